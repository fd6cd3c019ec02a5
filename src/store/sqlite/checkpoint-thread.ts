/** The thread behind `Checkpointer`: copies what was written from SQLite's log to the database, and waits for the disk. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { systemClock } from '../../lib/clock.ts';
import { emptyLog } from './sqlite-file.ts';

/** Given to the thread at its start. */
export interface CheckpointOrder {
  readonly file: string;
  readonly everyMs: number;
}

/** What is said to the thread: to end, or to empty the log now. */
export type ToCheckpoints = 'stop' | 'empty';

/** What the thread says. */
export type FromCheckpoints =
  | { readonly kind: 'ready' }
  /** Answers each `empty`. @see emptyLog */
  | { readonly kind: 'emptied'; readonly isEmpty: boolean }
  /** The disk refuses; said once until it takes something again. */
  | { readonly kind: 'refused'; readonly reason: string };

/** While the thread copies, more is written; it goes on until nothing has come in between, or so many times. */
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
      else this.#tell({ kind: 'emptied', isEmpty: this.#empty() });
    });
    this.#tell({ kind: 'ready' });
    this.#rest();
  }

  #rest(): void {
    this.#cancel = systemClock.after(this.#everyMs, () => this.#round());
  }

  #round(): void {
    try {
      this.#bringIn();
      this.#isRefused = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#isRefused) this.#tell({ kind: 'refused', reason });
      this.#isRefused = true;
    }
    this.#rest();
  }

  /** A log that has been brought in whole is begun anew by the next write; else it would grow for ever. */
  #bringIn(): void {
    let pages = 0;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const [checkpoint] = this.#sqlite.pragma('wal_checkpoint(PASSIVE)') as readonly Checkpoint[];
      if (checkpoint === undefined || checkpoint.log <= pages) return;
      pages = checkpoint.log;
    }
  }

  /** A disk that refuses is told of by the rounds. */
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

  #tell(message: FromCheckpoints): void {
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) new CheckpointThread(parentPort, workerData).start();
