/** What is counted and measured about calls that there is no room for. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** What the watch over the machine's headroom tells. */
export interface MeasuredAdmission {
  readonly callsLeft: number;
  /** Each figure over its limit, by name. */
  readonly loads: Readonly<Record<string, number>>;
}

export class AdmissionMetrics {
  readonly #refused: Counter<'shortage'>;
  #read: () => MeasuredAdmission | undefined = () => undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const read = () => this.#read();
    this.#refused = new Counter({
      name: 'offhook_calls_shed_total',
      help: 'Incoming calls refused although fewer than MAX_CALLS were in progress, by what was short.',
      labelNames: ['shortage'],
      registers,
    });
    new Gauge({
      name: 'offhook_calls_room',
      help: 'About how many more calls the server would take now.',
      registers,
      collect() {
        const measured = read();
        if (measured !== undefined) this.set(measured.callsLeft);
      },
    });
    new Gauge({
      name: 'offhook_load_ratio',
      help: 'What is measured over the limit from which on new calls are refused.',
      labelNames: ['shortage'],
      registers,
      collect() {
        for (const [shortage, load] of Object.entries(read()?.loads ?? {})) {
          this.set({ shortage }, load);
        }
      },
    });
  }

  /** A call was refused to spare the others. */
  shed(shortage: string): void {
    this.#refused.inc({ shortage });
  }

  /** Asked at every scrape. */
  watch(read: () => MeasuredAdmission | undefined): void {
    this.#read = read;
  }
}
