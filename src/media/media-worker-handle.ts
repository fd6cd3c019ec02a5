/** A media worker as the main thread sees it: starts it, routes messages to its lines, notices its death. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../lib/logger.ts';
import { Alarm, newAlarmMemory } from './alarm.ts';
import type { SocketsReport } from './line-sockets.ts';
import type { FromWorker, ToWorker, WorkerSettings, WorkerStart } from './media-protocol.ts';
import { SpeechRing } from './speech-ring.ts';

export type StartWorker = (settings: WorkerStart) => Worker;

/** What concerns one line; `gone` means that the worker died under it. */
export type LineMessage = Extract<FromWorker, { line: number }> | { readonly kind: 'gone' };

/** What is heard later when it is told later. */
const IS_URGENT: Readonly<Record<ToWorker['kind'], boolean>> = {
  open: false,
  remote: true,
  begin: false,
  say: true,
  finish: true,
  drop: true,
  resume: true,
  interruptible: false,
  digits: false,
  record: false,
  background: false,
  feed: true,
  mix: true,
  leave: true,
  stats: false,
  tap: false,
  close: false,
  reclaim: false,
  stop: true,
};

/** Time that a worker has to end recordings and exit. */
const STOP_MS_MAX = 2000;

/** Starts the thread on the file beside this one. */
export const startMediaWorker: StartWorker = (settings) =>
  new Worker(new URL('./media-worker.ts', import.meta.url), { workerData: settings });

export class MediaWorkerHandle {
  readonly #worker: Worker;
  readonly #alarm: Alarm;
  readonly #speech = new SpeechRing();
  readonly #log: Logger;
  readonly #lines = new Map<number, (message: LineMessage) => void>();
  readonly #busyLines = new Set<number>();
  readonly #exited: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  #sockets: SocketsReport | undefined;
  #isStopping = false;
  #batch: ToWorker[] = [];
  #transfer: ArrayBuffer[] = [];
  #isFlushing = false;

  constructor(options: {
    readonly settings: WorkerSettings;
    readonly startWorker: StartWorker;
    readonly log: Logger;
    /** Called when the thread has ended without having been told to. */
    readonly onDied: () => void;
  }) {
    this.#log = options.log;
    const alarm = newAlarmMemory();
    this.#alarm = new Alarm(alarm);
    this.#worker = options.startWorker({
      ...options.settings,
      ...{ alarm, speech: this.#speech.buffer },
    });
    this.#worker.on('message', (message: FromWorker) => this.#handle(message));
    this.#worker.on('error', (error) => {
      this.#log.error({ err: error }, 'media worker failed');
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        resolve();
        this.#end();
        if (!this.#isStopping) options.onDied();
      });
    });
  }

  /** Resolves when the thread can be asked; rejects when it ended before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Which sockets the thread has; undefined before it is ready. */
  get sockets(): SocketsReport | undefined {
    return this.#sockets;
  }

  /** Lines that are open or opening; those whose ports drain cost nothing. */
  get size(): number {
    return this.#busyLines.size;
  }

  /** Says who hears what comes for a line. */
  attach(line: number, listener: (message: LineMessage) => void): void {
    this.#lines.set(line, listener);
    this.#busyLines.add(line);
  }

  detach(line: number): void {
    this.#lines.delete(line);
    this.#busyLines.delete(line);
  }

  /**
   * Sends a message, in order with all others. Waking a thread costs more than what it is told, so what can wait for
   * the end of this turn of the event loop goes with what cannot, or together at its end.
   */
  tell(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#batch.push(message);
    this.#transfer.push(...transfer);
    if (this.#isFlushing) return;
    if (IS_URGENT[message.kind]) {
      this.#isFlushing = true;
      queueMicrotask(() => this.#flush());
    } else if (this.#batch.length === 1) {
      setImmediate(() => this.#flush());
    }
  }

  /** Sends speech, in order with all messages. The samples are copied: callers keep set phrases to say again. */
  say(line: number, generation: number, pcm: Int16Array): void {
    if (this.#speech.write(pcm)) {
      this.tell({ kind: 'say', line, generation, speech: pcm.length });
    } else {
      const copy = pcm.slice();
      this.tell({ kind: 'say', line, generation, speech: copy }, [copy.buffer]);
    }
  }

  #flush(): void {
    const isUrgent = this.#isFlushing;
    this.#isFlushing = false;
    if (this.#batch.length === 0) return;
    this.#worker.postMessage(this.#batch, this.#transfer);
    if (isUrgent) this.#alarm.ring();
    this.#batch = [];
    this.#transfer = [];
  }

  /** Lets the worker end its recordings and exit, within 2 s. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.tell({ kind: 'stop' });
    const limit = setTimeout(() => void this.#worker.terminate(), STOP_MS_MAX);
    await this.#exited;
    clearTimeout(limit);
  }

  #handle(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.#noteReady(message);
      return;
    }
    if (message.kind === 'closed') this.#busyLines.delete(message.line);
    this.#lines.get(message.line)?.(message);
  }

  #noteReady({ priority, sockets }: Extract<FromWorker, { kind: 'ready' }>): void {
    const level = sockets.isFallback ? 'warn' : 'info';
    this.#log[level]({ priority, sockets }, 'media worker ready');
    this.#sockets = sockets;
    this.#ready.resolve();
  }

  #end(): void {
    this.#ready.reject(new Error('Cannot start media worker: its thread ended'));
    this.#ready.promise.catch(() => undefined);
    for (const listener of [...this.#lines.values()]) listener({ kind: 'gone' });
    this.#lines.clear();
    this.#busyLines.clear();
  }
}
