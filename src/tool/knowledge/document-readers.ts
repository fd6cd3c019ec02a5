/** Reads documents in processes of their own, one at a time: a hostile file costs its process and nothing else. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DocumentFile, DocumentReader } from '../../domain/knowledge/knowledge.ts';
import { ServiceError, unprocessable } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { setLowPriority } from '../../lib/process/child-supervisor.ts';
import type { ReadAnswer } from './document-reader-child.ts';

const CHILD = fileURLToPath(new URL('./document-reader-child.ts', import.meta.url));

/** Heap of the process in MiB; all of its memory is limited in the process itself. */
const HEAP_MB_MAX = 256;

const READ_MS_MAX = 20_000;

/** Files that wait, including the one being read; they are held in memory. */
const FILES_MAX = 4;

/** Starts a process for each document. */
export class DocumentReaders implements DocumentReader {
  readonly #clock: Clock;
  readonly #readMsMax: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #child: ChildProcess | undefined;
  #isStopped = false;

  /** @param options.readMsMax 20 s unless given. */
  constructor(options: { readonly clock: Clock; readonly readMsMax?: number }) {
    this.#clock = options.clock;
    this.#readMsMax = options.readMsMax ?? READ_MS_MAX;
  }

  async read(file: DocumentFile): Promise<string> {
    if (this.#waiting >= FILES_MAX) throw unavailable(`${FILES_MAX} others wait; retry later`);
    this.#waiting += 1;
    try {
      const turn = this.#last.then(() => this.#run(file));
      this.#last = turn.catch(() => undefined);
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Ends the process that reads. Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    this.#child?.kill('SIGKILL');
  }

  #run(file: DocumentFile): Promise<string> {
    if (this.#isStopped) return Promise.reject(unavailable('the server stops'));
    const child = startChild();
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let isLate = false;
    const cancel = this.#clock.after(this.#readMsMax, () => {
      isLate = true;
      child.kill('SIGKILL');
    });
    child.once('message', (answer: ReadAnswer) => {
      if ('text' in answer) resolve(answer.text);
      else reject(unreadable(answer.problem));
    });
    child.once('error', () => reject(unavailable('the process for it cannot be started')));
    child.once('exit', (_exitCode, signal) => {
      cancel();
      this.#child = undefined;
      if (this.#isStopped) reject(unavailable('the server stops'));
      else if (isLate) reject(unreadable(`it takes longer than ${this.#readMsMax / 1000} s`));
      else reject(unreadable(signal === null ? 'it is damaged' : 'it takes too much memory'));
    });
    child.send(file, (error) => {
      if (error !== null) child.kill('SIGKILL');
    });
    return promise;
  }
}

/** The server's secrets are in its environment, so the child gets an empty one. */
function startChild(): ChildProcess {
  const child = fork(CHILD, {
    serialization: 'advanced',
    env: {},
    execArgv: [`--max-old-space-size=${HEAP_MB_MAX}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  if (child.pid !== undefined) setLowPriority(child.pid);
  return child;
}

function unreadable(why: string): ServiceError {
  return unprocessable(`Cannot read the document: ${why}`);
}

function unavailable(why: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', `Cannot read the document now: ${why}`);
}
