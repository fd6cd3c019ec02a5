/** Who is recognised next: final before speculative before partial, and first come first served within; pure */
import type { TranscriptionPriority } from './hearing.ts';

const RANKS: Readonly<Record<TranscriptionPriority, number>> = {
  final: 0,
  speculative: 1,
  partial: 2,
};

/** What the queue looks at. */
export interface QueuedRequest {
  readonly priority: TranscriptionPriority;
  readonly utterance: { readonly id: number };
}

/** The requests that wait for one child. */
export class RequestQueue<Request extends QueuedRequest> {
  #requests: readonly Request[] = [];

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
  }

  /** Takes the next one out; undefined when nobody waits. */
  take(): Request | undefined {
    const next = this.#requests.reduce<Request | undefined>(
      (first, request) =>
        first === undefined || RANKS[request.priority] < RANKS[first.priority] ? request : first,
      undefined,
    );
    if (next !== undefined) this.remove(next);
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

  /** Takes all out. */
  clear(): readonly Request[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }
}
