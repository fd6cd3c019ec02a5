/** Searches agents' documents in a thread: the main thread goes on meanwhile, and can give up on a search that takes too long. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type {
  PassageHit,
  QuestionVector,
  SearchAnswer,
  SearchOrder,
  SearchRequest,
} from './knowledge-search-thread.ts';

/** Searches that wait for an answer; one more is refused, because it would come too late. */
const WAITING_MAX = 64;

/** Least time between two starts of a thread that keeps failing. */
const RESTART_MS = 5000;

/** Heap of the thread in MiB; results are a few kilobytes. */
const HEAP_MB_MAX = 128;

/** Starts the search thread. */
export type StartSearch = (order: SearchOrder) => Worker;

const startSearch: StartSearch = (order) =>
  new Worker(new URL('./knowledge-search-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });

interface Waiting {
  readonly resolve: (hits: readonly PassageHit[]) => void;
  readonly reject: (reason: Error) => void;
}

/** Owns the search thread. The first search starts it, or `prepare`; after a failure the next search does. */
export class KnowledgeSearch {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #startThread: StartSearch;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #lastId = 0;
  #isStopped = false;

  constructor(options: {
    /** The SQLite file. */
    readonly file: string;
    readonly clock: Clock;
    readonly log: Logger;
    /** A test's replacement of the thread. */
    readonly startThread?: StartSearch;
  }) {
    this.#file = options.file;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#startThread = options.startThread ?? startSearch;
  }

  /** Starts the thread where it does not run, so that the first search need not wait for it. */
  prepare(): void {
    this.#running();
  }

  /**
   * Finds passages of an agent that share words with a question, best first (BM25).
   *
   * @throws {Error} when the thread failed, is stopped, or has too much to do.
   */
  find(agentId: string, question: string, limit: number): Promise<readonly PassageHit[]> {
    return this.#ask({ agentId, question, limit });
  }

  /**
   * Finds passages of an agent whose meaning is near a question's, nearest first.
   *
   * @throws as `find`.
   */
  nearest(
    agentId: string,
    question: QuestionVector,
    limit: number,
  ): Promise<readonly PassageHit[]> {
    return this.#ask({ agentId, question, limit });
  }

  /** Ends the thread; searches that wait fail. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread?.terminate();
  }

  #ask(request: Omit<SearchRequest, 'id'>): Promise<readonly PassageHit[]> {
    const thread = this.#running();
    if (thread === undefined) return Promise.reject(cannotSearch('the search thread has failed'));
    if (this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(cannotSearch(`${WAITING_MAX} searches wait already`));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<readonly PassageHit[]>();
    this.#waiting.set(id, { resolve, reject });
    thread.postMessage({ ...request, id } satisfies SearchRequest);
    return promise;
  }

  #running(): Worker | undefined {
    const nowMs = this.#clock.nowMs();
    if (this.#thread !== undefined || this.#isStopped) return this.#thread;
    if (nowMs - this.#startedAtMs < RESTART_MS) return undefined;
    this.#startedAtMs = nowMs;
    const thread = this.#startThread({ file: this.#file });
    this.#thread = thread;
    thread.on('message', (answer: SearchAnswer) => this.#settle(answer));
    thread.on('error', (error) => {
      this.#log.error({ err: error }, 'knowledge: the search thread failed');
    });
    thread.once('exit', () => this.#ended());
    return thread;
  }

  #settle(answer: SearchAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('hits' in answer) waiting?.resolve(answer.hits);
    else waiting?.reject(cannotSearch(answer.problem));
  }

  #ended(): void {
    this.#thread = undefined;
    for (const { reject } of this.#waiting.values()) reject(cannotSearch('the thread has ended'));
    this.#waiting.clear();
  }
}

function cannotSearch(why: string): Error {
  return new Error(`Cannot search the agent's documents: ${why}`);
}
