/** The thread behind `Checkpointer`: copies SQLite's log into the database, and waits for the disk. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { systemClock } from '../../lib/clock.ts';
import { emptyLog } from './sqlite-file.ts';

/** Start parameters of the thread. */
export interface CheckpointOrder {
  readonly file: string;
  readonly everyMs: number;
}

/** Message to the thread: end, or empty the log now. */
export type ToCheckpoints = 'stop' | 'empty';

/** Message from the thread. */
export type FromCheckpoints =
  | { readonly kind: 'ready' }
  /** Answers each `empty`. @see emptyLog */
  | { readonly kind: 'emptied'; readonly isEmpty: boolean }
  /** A checkpoint failed; sent once until one succeeds again. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Writes go on during a checkpoint: it is repeated until it was complete, up to this many times. */
const TRIES_MAX = 10;

interface Checkpoint {
  /** Pages in the log. */
  readonly log: number;
}

class CheckpointThread {
  readonly #port: MessagePort;
  readonly #everyMs: number;
  readonly #sqlite: Sqlite.Database;
  #isRefused = false;
  #cancel: () => void = () => undefined;

  constructor(port: MessagePort, { file, everyMs }: CheckpointOrder) {
    this.#port = port;
    this.#everyMs = everyMs;
    this.#sqlite = new Sqlite(file, { fileMustExist: true });
    this.#sqlite.pragma('synchronous=NORMAL');
  }

  start(): void {
    this.#port.on('message', (message: ToCheckpoints) => {
      if (message === 'stop') this.#stop();
      else this.#post({ kind: 'emptied', isEmpty: this.#empty() });
    });
    this.#post({ kind: 'ready' });
    this.#schedule();
  }

  #schedule(): void {
    this.#cancel = systemClock.after(this.#everyMs, () => this.#round());
  }

  #round(): void {
    try {
      this.#checkpoint();
      this.#isRefused = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#isRefused) this.#post({ kind: 'refused', reason });
      this.#isRefused = true;
    }
    this.#schedule();
  }

  /** After a complete checkpoint the next write starts the log again from its beginning; else it would only grow. */
  #checkpoint(): void {
    let pages = 0;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const [checkpoint] = this.#sqlite.pragma('wal_checkpoint(PASSIVE)') as readonly Checkpoint[];
      if (checkpoint === undefined || checkpoint.log <= pages) return;
      pages = checkpoint.log;
    }
  }

  /** A disk that fails is reported by the rounds. */
  #empty(): boolean {
    try {
      return emptyLog(this.#sqlite);
    } catch {
      return false;
    }
  }

  #stop(): void {
    this.#cancel();
    this.#port.close();
    this.#sqlite.close();
  }

  #post(message: FromCheckpoints): void {
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) new CheckpointThread(parentPort, workerData).start();
