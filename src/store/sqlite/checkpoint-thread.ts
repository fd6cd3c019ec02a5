/** The thread behind `Checkpointer`: copies SQLite's log into the database, and waits for the disk. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { messageOf } from '../../lib/unknown-value.ts';
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

function run(port: MessagePort, { file, everyMs }: CheckpointOrder): void {
  const sqlite = new Sqlite(file, { fileMustExist: true });
  sqlite.pragma('synchronous=NORMAL');
  const post = (message: FromCheckpoints) => port.postMessage(message);
  let isRefused = false;
  const rounds = setInterval(() => {
    const reason = failureOf(() => checkpoint(sqlite));
    if (reason !== undefined && !isRefused) post({ kind: 'refused', reason });
    isRefused = reason !== undefined;
  }, everyMs);
  port.on('message', (message: ToCheckpoints) => {
    if (message === 'empty') {
      let isEmpty = false;
      // A disk that fails is reported by the rounds.
      failureOf(() => {
        isEmpty = emptyLog(sqlite);
      });
      post({ kind: 'emptied', isEmpty });
      return;
    }
    clearInterval(rounds);
    port.close();
    sqlite.close();
  });
  post({ kind: 'ready' });
}

/** Tries a complete checkpoint: the next write then starts the log again from its beginning; else it would only grow. */
function checkpoint(sqlite: Sqlite.Database): void {
  let pages = 0;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const [found] = sqlite.pragma('wal_checkpoint(PASSIVE)') as readonly { readonly log: number }[];
    if (found === undefined || found.log <= pages) return;
    pages = found.log;
  }
}

function failureOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

if (parentPort !== null) run(parentPort, workerData);
