/** Keeps the ports of closed lines bound for a while, so that the next call on them hears nothing of the one before. */
import type { Clock } from '../../lib/clock.ts';
import type { PortPair } from './port-pair.ts';

/** Ports on which nothing came for so long may be used early, when no others are left. */
const QUIET_MS = 1000;

interface Draining {
  readonly ports: PortPair;
  cancel: () => void;
  /** When the line was closed, or something last arrived. */
  heardAtMs: number;
}

export class DrainingPorts {
  readonly #clock: Clock;
  readonly #drainMs: number;
  readonly #onFree: (line: number) => void;
  readonly #draining = new Map<number, Draining>();

  constructor(options: {
    readonly clock: Clock;
    readonly drainMs: number;
    /** Called when the ports of a line are closed. */
    readonly onFree: (line: number) => void;
  }) {
    this.#clock = options.clock;
    this.#drainMs = options.drainMs;
    this.#onFree = options.onFree;
  }

  /**
   * Throws away whatever comes from now on.
   *
   * @returns lets the time run after which they are closed, for the line of that number.
   */
  empty(ports: PortPair): (line: number) => void {
    const clock = this.#clock;
    const draining: Draining = { ports, heardAtMs: clock.nowMs(), cancel: () => undefined };
    const noting = {
      onDatagram: () => {
        draining.heardAtMs = clock.nowMs();
      },
    };
    ports.listen({ rtp: noting, rtcp: noting });
    return (line) => {
      this.#draining.set(line, draining);
      draining.cancel = clock.after(this.#drainMs, () => this.#free(line));
    };
  }

  /** Closes them now if nothing arrives. @returns false when something does. */
  reclaim(line: number): boolean {
    const draining = this.#draining.get(line);
    if (draining === undefined) return true;
    if (this.#clock.nowMs() - draining.heardAtMs < QUIET_MS) return false;
    this.#free(line);
    return true;
  }

  #free(line: number): void {
    const draining = this.#draining.get(line);
    this.#draining.delete(line);
    draining?.cancel();
    draining?.ports.close();
    this.#onFree(line);
  }
}
