/** Has what was written brought from SQLite's log into the database by a thread that may wait for the disk. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../lib/logger.ts';
import type { CheckpointOrder, FromCheckpoints, ToCheckpoints } from './checkpoint-thread.ts';
import { type Database, USUAL_LOG_PAGES } from './database.ts';

/** Also about what is lost when the power fails, while the disk keeps up; a process that dies loses nothing. */
const EVERY_MS = 2000;

/** So long, 64 MiB, the log may grow before the connection that writes brings it in itself after all. */
const LOG_PAGES_MAX = 16_384;

/** For whoever waits for an empty log: a disk that takes longer is busy with other things. */
const EMPTY_MS_MAX = 1000;

/** Time that the thread has to end the round that it is at; the rest is brought in by the database's own close. */
const STOP_MS_MAX = 5000;

export type StartCheckpoints = (order: CheckpointOrder) => Worker;

/** Starts the thread on the file beside this one. */
const startCheckpoints: StartCheckpoints = (order) =>
  new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { workerData: order });

/**
 * Every thousand pages SQLite brings its log in, and has the disk confirm it three times; left to itself it does so in
 * the middle of whichever write comes next, on the thread that holds the conversations. Until the thread is there, and
 * once it is gone, it is left to itself.
 */
export class Checkpointer {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #everyMs: number;
  readonly #startThread: StartCheckpoints;
  #thread: Worker | undefined;
  /** Those who wait for an empty log, in the order of their asking. */
  readonly #onEmptied: ((isEmpty: boolean) => void)[] = [];
  #ended: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly database: Database;
    readonly log: Logger;
    /** Between two rounds; 2,000 unless said otherwise. */
    readonly everyMs?: number;
    /** Starts a thread; the real one unless a test says otherwise. */
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
    thread.on('message', (message: FromCheckpoints) => this.#hear(message));
    thread.on('error', (error) => {
      this.#log.error({ file, err: error }, 'database: the thread that waits for the disk failed');
    });
    this.#ended = new Promise((resolve) => {
      thread.once('exit', () => {
        this.#leaveToItself();
        resolve();
      });
    });
  }

  /**
   * Has the log emptied by the thread; see `emptyLog`.
   *
   * @returns false as well where the thread is gone, or does not answer within a second.
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

  #hear(message: FromCheckpoints): void {
    if (message.kind === 'ready') this.#database.setLogPages(LOG_PAGES_MAX);
    else if (message.kind === 'emptied') this.#onEmptied.shift()?.(message.isEmpty);
    else this.#log.warn({ reason: message.reason }, 'database: log not brought in, will try again');
  }

  #leaveToItself(): void {
    this.#database.setLogPages(USUAL_LOG_PAGES);
    if (this.#thread === undefined) return;
    this.#thread = undefined;
    this.#log.error({}, 'database: its log is brought in between the conversations from now on');
  }
}
