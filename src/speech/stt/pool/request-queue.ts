/** Who is recognised next: final before speculative before partial, and within a priority callers take turns; pure */

import { CallerTurns } from '../../hearing/call-listener.ts';
import type { TranscriptionPriority } from '../../hearing/hearing.ts';

const RANKS: Readonly<Record<TranscriptionPriority, number>> = {
  final: 0,
  speculative: 1,
  partial: 2,
};

/** What the queue looks at. */
export interface QueuedRequest {
  readonly priority: TranscriptionPriority;
  readonly utterance: { readonly id: number; readonly caller: object };
}

/** The requests that wait for one child. */
export class RequestQueue<Request extends QueuedRequest> {
  #requests: readonly Request[] = [];
  readonly #turns: CallerTurns;

  constructor(turns = new CallerTurns()) {
    this.#turns = turns;
  }

  get length(): number {
    return this.#requests.length;
  }

  /**
   * Adds a request.
   *
   * @returns partial requests of the same utterance that nobody needs any more; they are out of the queue.
   */
  add(request: Request): readonly Request[] {
    const isStale = (other: Request) =>
      other.priority === 'partial' && other.utterance.id === request.utterance.id;
    const stale = this.#requests.filter(isStale);
    this.#requests = [...this.#requests.filter((other) => !isStale(other)), request];
    return stale;
  }

  /** Puts a request back that was taken; it goes before others of its priority. */
  putBack(request: Request): void {
    this.#requests = [request, ...this.#requests];
    this.#turns.giveBack(request.utterance.caller);
  }

  /** The next one, which stays. */
  peek(isWanted: (request: Request) => boolean = () => true): Request | undefined {
    return this.#requests
      .filter(isWanted)
      .reduce<Request | undefined>(
        (first, request) =>
          first === undefined || this.#isBefore(request, first) ? request : first,
        undefined,
      );
  }

  /**
   * Takes the next one out: of the highest priority, that of the caller whose turn is longest ago.
   *
   * @returns undefined when nobody waits.
   */
  take(): Request | undefined {
    const next = this.peek();
    if (next === undefined) return undefined;
    this.remove(next);
    this.#turns.took(next.utterance.caller);
    return next;
  }

  /** @returns false when it is not here. */
  remove(request: Request): boolean {
    const before = this.#requests.length;
    this.#requests = this.#requests.filter((other) => other !== request);
    return this.#requests.length < before;
  }

  /** Those that wait on one utterance. */
  of(utteranceId: number): readonly Request[] {
    return this.#requests.filter(({ utterance }) => utterance.id === utteranceId);
  }

  /** How many are not less important. */
  ahead(priority: TranscriptionPriority): number {
    return this.#requests.filter((other) => RANKS[other.priority] <= RANKS[priority]).length;
  }

  /** Takes all out. */
  clear(): readonly Request[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  #isBefore(request: Request, other: Request): boolean {
    const ranks = RANKS[request.priority] - RANKS[other.priority];
    if (ranks !== 0) return ranks < 0;
    const turnOf = ({ utterance }: Request) => this.#turns.lastOf(utterance.caller);
    return turnOf(request) < turnOf(other);
  }
}
