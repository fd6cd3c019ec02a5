/** How many requests an hour a plan allows, and the contract of the store that counts them; pure */
import type { Environment, Plan } from './account.ts';

const WINDOW_MS = 3_600_000;

/** @see the interface specification, "Limits" */
const REQUESTS_AN_HOUR: Readonly<Record<Plan, number>> = {
  starter: 1000,
  business: 1000,
  enterprise: 10_000,
};

/** Requests an hour of one client address that shows no valid key. */
export const ANONYMOUS_REQUESTS_AN_HOUR = 1000;

/** Requests an hour by the signed links of one recording; a player asks for it in many ranges. */
export const RECORDING_REQUESTS_AN_HOUR = 1000;

/** Requests an hour that the dashboard makes for an account and environment; they do not count for the account's own clients. */
export const DASHBOARD_REQUESTS_AN_HOUR = 10_000;

/** Requests an hour that a plan allows, for each environment. */
export function requestsAnHour(plan: Plan): number {
  return REQUESTS_AN_HOUR[plan];
}

/** One fixed hour, the same for all subjects. */
export interface RateWindow {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** The window that an instant lies in. */
export function windowOf(now: Date): RateWindow {
  const startMs = Math.floor(now.getTime() / WINDOW_MS) * WINDOW_MS;
  return { startsAt: new Date(startMs), endsAt: new Date(startMs + WINDOW_MS) };
}

/** Counts requests in fixed windows. */
export interface RateStore {
  /**
   * Counts one request of a subject, and forgets the counts of windows before this one.
   *
   * Exact while the process lives. A store may write requests as counted before they come, so as not to write at each:
   * a process that dies then charges each subject at most 20 too many, and forgives none.
   *
   * @param subject Subject of the limit, such as `account:acct_…:live` or `address:203.0.113.7`.
   * @returns how many there are now in the window, this one among them.
   * @throws {StoreError} when it had to write and could not; then the request is not counted.
   */
  count(subject: string, window: RateWindow): Promise<number>;
}

/** How long an answer is cached. */
export const IDEMPOTENCY_KEPT_MS = 86_400_000;

/** Scope in which an idempotency key is unique. */
export interface IdempotencyScope {
  readonly accountId: string;
  readonly environment: Environment;
  readonly method: string;
  readonly path: string;
  /** 1 to 255 visible ASCII characters, as the customer chose them. */
  readonly key: string;
}

/** A POST with an idempotency key. */
export interface IdempotentRequest extends IdempotencyScope {
  /** SHA-256 of the body as canonical JSON, so that only its meaning counts. */
  readonly fingerprint: string;
  readonly now: Date;
}

/** A stored answer. `body` is JSON text; null when there is none. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string | null;
}

/** Keeps answers by idempotency key, so that a repeated POST is not carried out twice. */
export interface IdempotencyStore {
  /**
   * Claims the key for a request; until `keep` or `release` it is running.
   *
   * @returns the kept answer; undefined where the claim is new.
   * @throws {ServiceError} UNPROCESSABLE when the key was used with another body, CONFLICT while the first request runs.
   */
  claim(request: IdempotentRequest): Promise<KeptAnswer | undefined>;

  /** Keeps the answer of a claimed key, in the transaction of the change that it answers. */
  keep(request: IdempotentRequest, answer: KeptAnswer): Promise<void>;

  /** Gives up the claim: the request changed nothing and may be tried again. */
  release(request: IdempotencyScope): Promise<void>;

  /** Gives up the claims of an earlier process, whose requests will not be answered. */
  releaseAll(): Promise<void>;
}
