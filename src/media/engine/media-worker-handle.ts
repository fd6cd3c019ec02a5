/** Main thread's side of a media worker: starts the thread, routes its messages to sessions, detects its death; the messages between them. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../lib/logger.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import type { TrustedHosts } from '../../rtp/source-lock.ts';
import type { AudioEvent, AudioStats } from '../audio-stream.ts';
import type { SocketsReport } from '../sockets/rtp-sockets.ts';
import { type ReceiveRingBuffer, SpeechRing, type SpeechRingBuffer } from '../sound-rings.ts';

/** Starts the thread. */
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

/** One media worker, as the main thread sees it. */
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

/** Settings of all workers. */
export interface WorkerSettings {
  /** Time that a closed session's ports stay bound, in milliseconds. */
  readonly drainMs: number;
  /** Whether the worker asks the system for real-time priority. */
  readonly isRealTime: boolean;
}

/** A worker's start data. */
export interface WorkerStart extends WorkerSettings {
  /** Carries speech to the worker. */
  readonly speech: SpeechRingBuffer;
}

/** Requests to a worker. A session's number is never used again. */
export type ToWorker =
  | {
      readonly kind: 'open';
      readonly sessionId: number;
      readonly address: string;
      readonly port: number;
      readonly trusted: TrustedHosts;
      readonly heard: ReceiveRingBuffer;
      readonly meter: SharedArrayBuffer;
    }
  | { readonly kind: 'remote'; readonly sessionId: number; readonly agreed: AgreedMedia }
  | {
      readonly kind: 'begin' | 'finish' | 'drop' | 'resume';
      readonly sessionId: number;
      readonly generation: number;
    }
  | {
      readonly kind: 'say';
      readonly sessionId: number;
      readonly generation: number;
      /** Number of samples in the speech ring; the samples themselves, transferred, where the ring had no room. */
      readonly speech: number | Int16Array;
    }
  | {
      readonly kind: 'pause-after';
      readonly sessionId: number;
      /** Milliseconds; null: playout does not pause. */
      readonly voiceMs: number | null;
    }
  | { readonly kind: 'private'; readonly sessionId: number; readonly isPrivate: boolean }
  | { readonly kind: 'digits'; readonly sessionId: number; readonly digits: string }
  | {
      readonly kind: 'record';
      readonly sessionId: number;
      readonly path: string;
      /** Beginning of the recording, `Clock.nowMs()`. */
      readonly atMs: number;
    }
  /** Loops a sound in place of silence. */
  | {
      readonly kind: 'background';
      readonly sessionId: number;
      readonly pcm: Int16Array | undefined;
    }
  /** Forwards another session's received audio; undefined ends it. */
  | { readonly kind: 'feed'; readonly sessionId: number; readonly source: number | undefined }
  /** Mixes two sessions and their agents; undefined ends it. */
  | { readonly kind: 'mix'; readonly sessionId: number; readonly other: number | undefined }
  | { readonly kind: 'stats'; readonly sessionId: number; readonly request: number }
  /** Copies played sound into the ring; null ends it. */
  | { readonly kind: 'tap'; readonly sessionId: number; readonly played: ReceiveRingBuffer | null }
  | { readonly kind: 'close'; readonly sessionId: number }
  /** Frees the ports of a closed session early, if nothing arrives on them. */
  | { readonly kind: 'reclaim'; readonly sessionId: number }
  /** Closes all sessions and ends the thread. */
  | { readonly kind: 'stop' };

/** Answers and events of a worker. */
export type FromWorker =
  /** `priority` describes the thread's scheduling in plain English. */
  | { readonly kind: 'ready'; readonly priority: string; readonly sockets: SocketsReport }
  | { readonly kind: 'opened'; readonly sessionId: number }
  | {
      readonly kind: 'refused';
      readonly sessionId: number;
      /** The system's error code, such as EADDRINUSE. */
      readonly code: string;
      readonly reason: string;
    }
  | { readonly kind: 'event'; readonly sessionId: number; readonly event: AudioEvent }
  | {
      readonly kind: 'stats';
      readonly sessionId: number;
      readonly request: number;
      readonly stats: AudioStats;
    }
  /** A reply was longer than the playout queue; its end is dropped. */
  | { readonly kind: 'overflow'; readonly sessionId: number; readonly generation: number }
  /** An exception; it closed the session. */
  | { readonly kind: 'fault'; readonly sessionId: number; readonly reason: string }
  /** The session is closed and its recording complete. */
  | { readonly kind: 'closed'; readonly sessionId: number }
  /** The ports that `reclaim` asked for still receive packets. */
  | { readonly kind: 'kept'; readonly sessionId: number }
  /** The ports are free. */
  | { readonly kind: 'drained'; readonly sessionId: number };
