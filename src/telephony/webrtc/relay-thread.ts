/** Thread of the browser calls, as seen from the main thread: requests, events per call, death of the thread. */
import { Worker } from 'node:worker_threads';
import { type Clock, within } from '../../lib/clock.ts';

/** Starts the worker thread that relays browser media. */
export type StartRelay = (settings: RelaySettings) => Worker;

/** Event of one call; `gone`: the thread has died. */
export type CallMessage = Extract<FromRelay, { call: number }> | { readonly kind: 'gone' };

/** Loading werift takes half a second on a slow machine. */
const READY_MS_MAX = 10_000;

/** Starts the thread. */
export const startRelay: StartRelay = (settings) =>
  new Worker(new URL('./werift-worker.ts', import.meta.url), {
    workerData: settings,
    // So that a fault of a library there cannot take the memory of the calls here.
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });

/** The relay worker thread; when it ends, each of its calls gets `gone`. */
export class RelayThread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #calls = new Map<number, (message: CallMessage) => void>();
  readonly #ready = Promise.withResolvers<void>();
  #isAlive = true;

  constructor(options: {
    readonly settings: RelaySettings;
    readonly startRelay: StartRelay;
    readonly clock: Clock;
    /** Called once when the thread has ended, however. */
    readonly onEnded: (reason: string) => void;
  }) {
    this.#clock = options.clock;
    this.#worker = options.startRelay(options.settings);
    let reason = 'its thread ended';
    this.#worker.on('message', (message: FromRelay) => this.#receive(message));
    this.#worker.on('error', (error) => {
      reason = error.message;
    });
    this.#worker.once('exit', () => {
      this.#isAlive = false;
      this.#ready.reject(new Error(reason));
      for (const listener of [...this.#calls.values()]) listener({ kind: 'gone' });
      this.#calls.clear();
      options.onEnded(reason);
    });
    this.#ready.promise.catch(() => undefined);
  }

  /** Resolves when the thread is ready. @throws {Error} when it ended before, or after the time limit. */
  get ready(): Promise<void> {
    return within(this.#clock, READY_MS_MAX, this.#ready.promise);
  }

  /** Sets the listener of a call's events; emits `gone` at once if the thread is dead. */
  attach(call: number, listener: (message: CallMessage) => void): void {
    if (this.#isAlive) this.#calls.set(call, listener);
    else listener({ kind: 'gone' });
  }

  detach(call: number): void {
    this.#calls.delete(call);
  }

  send(message: ToRelay): void {
    if (this.#isAlive) this.#worker.postMessage(message);
  }

  /** Terminates the thread with all its calls. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #receive(message: FromRelay): void {
    if (message.kind === 'ready') this.#ready.resolve();
    else this.#calls.get(message.call)?.(message);
  }
}

/** How a thread is set up when it starts. */
export interface RelaySettings {
  /** UDP ports for browsers. */
  readonly ports: { readonly first: number; readonly last: number };
}

/** An IPv4 address and a UDP port. */
export interface UdpPlace {
  readonly address: string;
  readonly port: number;
}

/** Messages from the main thread to the relay. */
export type ToRelay =
  | {
      readonly kind: 'open';
      readonly call: number;
      /** The browser's offer, reduced to supported media. */
      readonly offer: string;
      readonly telephoneEventPayloadType: number | undefined;
      /** The port of the media engine that takes this call's RTP. */
      readonly line: UdpPlace;
      /** IPv4 candidates, best first; loopback alone opens no port to others. */
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'close'; readonly call: number };

/** Messages from the relay to the main thread. */
export type FromRelay =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'opened';
      readonly call: number;
      readonly answer: string;
      /** Address of the relay for the media engine. */
      readonly relay: UdpPlace;
    }
  /** The answer to `open`, in place of `opened`. */
  | { readonly kind: 'refused'; readonly call: number; readonly reason: string }
  /** ICE and DTLS are complete: audio flows. */
  | { readonly kind: 'connected'; readonly call: number }
  /** The connection is over, or will never be. */
  | { readonly kind: 'lost'; readonly call: number; readonly reason: string }
  /** The answer to `close`: its ports are free. */
  | { readonly kind: 'closed'; readonly call: number };
