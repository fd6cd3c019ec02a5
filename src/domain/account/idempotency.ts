/** Repeated requests: one effect, one answer; and the contract of the store that remembers answers. */
import type { Environment } from './account.ts';

/** How long an answer is cached. */
export const IDEMPOTENCY_KEPT_MS = 86_400_000;

/** What a key is unique in. */
export interface IdempotencyScope {
  readonly accountId: string;
  readonly environment: Environment;
  readonly method: string;
  readonly path: string;
  /** 1 to 255 visible ASCII characters, as the customer chose them. */
  readonly key: string;
}

/** An answer worth repeating. `body` is JSON text; null when there is none. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string | null;
}

export interface IdempotencyStore {
  /** Whether the key has an answer, whatever body it was used with. */
  has(request: IdempotencyScope & { readonly now: Date }): boolean;

  /**
   * Runs `work` and keeps its answer, in one transaction with everything that `work` writes; or gives the kept answer.
   *
   * @param request.fingerprint SHA-256 of the body as canonical JSON, so that only its meaning counts.
   * @param work must be synchronous. What it throws undoes what it wrote, and nothing is kept.
   * @throws {ServiceError} UNPROCESSABLE when the key was used with another body.
   */
  once(
    request: IdempotencyScope & { readonly fingerprint: string; readonly now: Date },
    work: () => KeptAnswer,
  ): { readonly answer: KeptAnswer; readonly isReplay: boolean };
}
