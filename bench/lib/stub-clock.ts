/** Waits that are exact: models that are stubs answer after them, from another thread, as models do. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { LOOK_MS, type StubClockData, type StubWait } from '../tools/stub-clock.ts';
import { monotonicMs } from './monotonic.ts';

export class StubClock {
  readonly #port: MessagePort;
  readonly #asked = new Int32Array(new SharedArrayBuffer(4));
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: StubClockData = { port: port2, asked: this.#asked };
    const file = new URL('../tools/stub-clock.ts', import.meta.url);
    new Worker(file, { workerData, transferList: [port2] }).unref();
    port1.on('message', (id: number) => {
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    });
    port1.unref();
  }

  /** @throws the signal's reason when aborted. */
  async wait(delayMs: number, signal?: AbortSignal): Promise<void> {
    this.#last += 1;
    const id = this.#last;
    this.#ask({ id, atMs: monotonicMs() + delayMs }, delayMs < LOOK_MS);
    await new Promise<void>((resolve) => {
      this.#waiting.set(id, resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    signal?.throwIfAborted();
  }

  stop(): void {
    this.#ask({ id: null, atMs: 0 }, true);
  }

  /** Waking a thread of real-time priority preempts the waking thread: that would be measured as the server's time. */
  #ask(wait: StubWait, isSoon: boolean): void {
    this.#port.postMessage(wait);
    Atomics.add(this.#asked, 0, 1);
    if (isSoon) Atomics.notify(this.#asked, 0);
  }
}
