/** Main thread's side of a media worker: starts the thread, routes its messages to sessions, detects its death. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../lib/logger.ts';
import { SpeechRing } from '../buffers/speech-ring.ts';
import type { SocketsReport } from '../sockets/rtp-sockets.ts';
import type { FromWorker, ToWorker, WorkerSettings, WorkerStart } from './media-protocol.ts';

export type StartWorker = (settings: WorkerStart) => Worker;

/** A message about one session; `gone` means that the worker died. */
export type SessionMessage = Extract<FromWorker, { sessionId: number }> | { readonly kind: 'gone' };

/** How soon a message is sent; earlier messages go with it. */
type Urgency = typeof SOON | typeof THIS_TURN | typeof AT_ONCE;

/** Within `SOON_MS`. */
const SOON = 1;
/** At the end of this turn of the event loop. */
const THIS_TURN = 2;
/** Audible: in this microtask. */
const AT_ONCE = 3;

/** One frame: with hundreds of replies under way, about ten pieces of speech share a message. */
const SOON_MS = 20;

/** Speech that is due later than this may wait: a main thread that is busy for most of a second leaves no gap. */
const AHEAD_MS = 1000;

const URGENCY: Readonly<Record<ToWorker['kind'], Urgency>> = {
  open: THIS_TURN,
  remote: AT_ONCE,
  begin: THIS_TURN,
  say: AT_ONCE,
  finish: AT_ONCE,
  drop: AT_ONCE,
  resume: AT_ONCE,
  'pause-after': THIS_TURN,
  private: AT_ONCE,
  digits: THIS_TURN,
  record: THIS_TURN,
  background: THIS_TURN,
  feed: AT_ONCE,
  mix: AT_ONCE,
  stats: THIS_TURN,
  tap: THIS_TURN,
  close: THIS_TURN,
  reclaim: THIS_TURN,
  stop: AT_ONCE,
};

/** Time limit for a worker to end recordings and exit. */
const STOP_MS_MAX = 2000;

/** Starts the worker's thread. */
export const startMediaWorker: StartWorker = (settings) =>
  new Worker(new URL('../worker/media-worker.ts', import.meta.url), { workerData: settings });

export class MediaWorkerHandle {
  readonly #worker: Worker;
  readonly #speech = new SpeechRing();
  readonly #log: Logger;
  readonly #sessions = new Map<number, (message: SessionMessage) => void>();
  readonly #busySessions = new Set<number>();
  readonly #exited: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  #sockets: SocketsReport | undefined;
  #isStopping = false;
  #batch: ToWorker[] = [];
  #transfer: ArrayBuffer[] = [];
  /** Urgency of the scheduled sending; 0 when there is none. */
  #urgency: Urgency | 0 = 0;

  constructor(options: {
    readonly settings: WorkerSettings;
    readonly startWorker: StartWorker;
    readonly log: Logger;
    /** Called when the thread ends without `stop`. */
    readonly onDied: () => void;
  }) {
    this.#log = options.log;
    this.#worker = options.startWorker({
      ...options.settings,
      speech: this.#speech.buffer,
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

  /** Resolves when the thread is ready; rejects when it ends before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Kind of sockets in use; undefined before the thread is ready. */
  get sockets(): SocketsReport | undefined {
    return this.#sockets;
  }

  /** Number of open and opening sessions, without draining ones. */
  get size(): number {
    return this.#busySessions.size;
  }

  /** Sets the listener for a session's messages. */
  attach(sessionId: number, listener: (message: SessionMessage) => void): void {
    this.#sessions.set(sessionId, listener);
    this.#busySessions.add(sessionId);
  }

  detach(sessionId: number): void {
    this.#sessions.delete(sessionId);
    this.#busySessions.delete(sessionId);
  }

  /** Sends a message, in order with all others. */
  tell(message: ToWorker): void {
    this.#send(message, URGENCY[message.kind]);
  }

  /**
   * Sends speech, in order with all messages. The samples are copied: callers keep set phrases to say again.
   *
   * @param speech.aheadMs time that earlier speech still lasts.
   */
  say(speech: {
    readonly sessionId: number;
    readonly generation: number;
    readonly pcm: Int16Array;
    readonly aheadMs: number;
  }): void {
    const { sessionId, generation, pcm, aheadMs } = speech;
    const urgency = aheadMs >= AHEAD_MS ? SOON : URGENCY.say;
    if (this.#speech.write(pcm)) {
      this.#send({ kind: 'say', sessionId, generation, speech: pcm.length }, urgency);
    } else {
      const copy = pcm.slice();
      this.#send({ kind: 'say', sessionId, generation, speech: copy }, urgency, [copy.buffer]);
    }
  }

  /** Batches messages: waking a thread costs more than a message. */
  #send(message: ToWorker, urgency: Urgency, transfer: ArrayBuffer[] = []): void {
    this.#batch.push(message);
    this.#transfer.push(...transfer);
    if (urgency <= this.#urgency) return;
    this.#urgency = urgency;
    if (urgency === AT_ONCE) queueMicrotask(() => this.#flush());
    else if (urgency === THIS_TURN) setImmediate(() => this.#flush());
    else setTimeout(() => this.#flush(), SOON_MS);
  }

  #flush(): void {
    this.#urgency = 0;
    if (this.#batch.length === 0) return;
    this.#worker.postMessage(this.#batch, this.#transfer);
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
    if (message.kind === 'closed') this.#busySessions.delete(message.sessionId);
    this.#sessions.get(message.sessionId)?.(message);
  }

  #noteReady({ priority, sockets }: Extract<FromWorker, { kind: 'ready' }>): void {
    const level = sockets.name === 'epoll' ? 'info' : 'warn';
    this.#log[level]({ priority, sockets }, 'media worker ready');
    this.#sockets = sockets;
    this.#ready.resolve();
  }

  #end(): void {
    this.#ready.reject(new Error('Cannot start media worker: its thread ended'));
    this.#ready.promise.catch(() => undefined);
    for (const listener of [...this.#sessions.values()]) listener({ kind: 'gone' });
    this.#sessions.clear();
    this.#busySessions.clear();
  }
}
