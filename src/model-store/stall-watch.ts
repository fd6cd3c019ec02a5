/** Breaks off what stands still for too long. */
import type { Clock } from '../lib/clock.ts';
import { ServerTrouble } from './http-trouble.ts';

export class StallWatch {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #stalled = new AbortController();
  readonly #signal: AbortSignal;
  #cancel: () => void = () => undefined;

  /** Begins to watch. @param options.signal ends what is watched as well. */
  constructor(options: {
    readonly clock: Clock;
    readonly stallMs: number;
    readonly signal: AbortSignal;
  }) {
    this.#clock = options.clock;
    this.#stallMs = options.stallMs;
    this.#signal = AbortSignal.any([options.signal, this.#stalled.signal]);
    this.heard();
  }

  /** For what is watched. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Something happened: the time begins anew. */
  heard(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#stallMs, () => this.#stalled.abort());
  }

  /** Safe to call twice. */
  stop(): void {
    this.#cancel();
  }

  /** Says that it stood still, where that is why something failed. */
  explain(error: unknown): unknown {
    if (!this.#stalled.signal.aborted) return error;
    return new ServerTrouble(`nothing came for ${Math.round(this.#stallMs / 1000)} s`, {
      cause: error,
    });
  }
}

/** Waits. @throws the signal's reason. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
