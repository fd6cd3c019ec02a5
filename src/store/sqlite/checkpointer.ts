/** Checkpoints SQLite's log (WAL) in a thread that may wait for the disk. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../lib/logger.ts';
import type { CheckpointOrder, FromCheckpoints, ToCheckpoints } from './checkpoint-thread.ts';
import { type Database, USUAL_LOG_PAGES } from './database.ts';

/** Interval of checkpoints, and the most that a power failure loses; a crash of the process loses nothing. */
const EVERY_MS = 2000;

/** From this length on, 64 MiB, the writing connection checkpoints the log itself after all. */
const LOG_PAGES_MAX = 16_384;

/** Time limit of `emptyLog`. */
const EMPTY_MS_MAX = 1000;

/** Time for the thread to end its round; closing the database checkpoints the rest. */
const STOP_MS_MAX = 5000;

/** Starts the checkpoint thread. */
export type StartCheckpoints = (order: CheckpointOrder) => Worker;

/** Starts the thread on `checkpoint-thread.ts`. */
const startCheckpoints: StartCheckpoints = (order) =>
  new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { workerData: order });

/**
 * Left to itself, SQLite checkpoints its log after every thousand pages, inside the next write, and waits for the disk
 * three times, on the thread that also holds the calls. Until the checkpoint thread is ready, and after it has died, SQLite
 * does so.
 */
export class Checkpointer {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #everyMs: number;
  readonly #startThread: StartCheckpoints;
  #thread: Worker | undefined;
  /** Callers of `emptyLog` that wait, in order. */
  readonly #onEmptied: ((isEmpty: boolean) => void)[] = [];
  #ended: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly database: Database;
    readonly log: Logger;
    /** Time between two checkpoints; 2,000 by default. */
    readonly everyMs?: number;
    /** A test's replacement of the thread. */
    readonly startThread?: StartCheckpoints;
  }) {
    this.#database = options.database;
    this.#log = options.log;
    this.#everyMs = options.everyMs ?? EVERY_MS;
    this.#startThread = options.startThread ?? startCheckpoints;
  }

  /** To be called once. */
  start(): void {
    const { file } = this.#database;
    const thread = this.#startThread({ file, everyMs: this.#everyMs });
    this.#thread = thread;
    thread.on('message', (message: FromCheckpoints) => this.#onMessage(message));
    thread.on('error', (error) => {
      this.#log.error({ file, err: error }, 'database: the checkpoint thread failed');
    });
    this.#ended = new Promise((resolve) => {
      thread.once('exit', () => {
        this.#stopUsingThread();
        resolve();
      });
    });
  }

  /**
   * Empties the log in the thread, see `emptyLog` of `sqlite-file.ts`.
   *
   * @returns false as well when the thread is gone, or does not answer within a second.
   */
  emptyLog(): Promise<boolean> {
    const thread = this.#thread;
    if (thread === undefined) return Promise.resolve(false);
    const asked = new Promise<boolean>((resolve) => {
      this.#onEmptied.push(resolve);
      setTimeout(resolve, EMPTY_MS_MAX, false).unref();
    });
    thread.postMessage('empty' satisfies ToCheckpoints);
    return asked;
  }

  /** Resolves when the thread has ended, within 5 s. Safe to call twice. To be called before the database is closed. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.postMessage('stop' satisfies ToCheckpoints);
    const limit = setTimeout(() => void thread?.terminate(), STOP_MS_MAX);
    await this.#ended;
    clearTimeout(limit);
  }

  #onMessage(message: FromCheckpoints): void {
    if (message.kind === 'ready') this.#database.setLogPages(LOG_PAGES_MAX);
    else if (message.kind === 'emptied') this.#onEmptied.shift()?.(message.isEmpty);
    else this.#log.warn({ reason: message.reason }, 'database: checkpoint failed, will try again');
  }

  #stopUsingThread(): void {
    this.#database.setLogPages(USUAL_LOG_PAGES);
    if (this.#thread === undefined) return;
    this.#thread = undefined;
    this.#log.error({}, 'database: checkpoints run on the main thread from now on');
  }
}
