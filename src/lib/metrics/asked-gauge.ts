/** Gauges that are asked for their value at every scrape, and may not know it. */
import { Gauge, type Registry } from 'prom-client';

/**
 * Adds a gauge. Where `read` fails the last value stays: a database that cannot be read must not take the other figures
 * with it.
 */
export function addAskedGauge(
  registry: Registry,
  gauge: { readonly name: string; readonly help: string; readonly read: () => number },
): void {
  const { name, help, read } = gauge;
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      try {
        this.set(read());
      } catch {
        // The reader's owner tells of it; here it is enough that nothing wrong is shown.
      }
    },
  });
}
