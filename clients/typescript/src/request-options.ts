/** Options of the client, and of single requests. */

export interface OffhookOptions {
  /** `svc_live_…` or `svc_test_…`. */
  readonly apiKey: string;
  /** Where the server is, such as `https://voice.example`. */
  readonly baseUrl: string;
  /** Longest time for one attempt, the body included, in milliseconds: 60,000 unless given. */
  readonly timeoutMs?: number;
  /** Attempts after the first one: 2 unless given. */
  readonly maxRetries?: number;
  /** A `Retry-After` over this is not waited for, in milliseconds: 60,000 unless given. */
  readonly maxRetryAfterMs?: number;
  /** Longest JSON answer: 32 MiB unless given. */
  readonly maxResponseBytes?: number;
  /** Takes the place of the platform's own `fetch`, such as one that goes through a proxy. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface RequestOptions {
  /** In milliseconds; of downloads and event streams the longest wait for the headers, and for each piece. */
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
  /** Of POST: 1 to 255 visible ASCII characters, a random UUID unless given. */
  readonly idempotencyKey?: string;
  /** Ends the request and its waits; it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface ConditionalOptions extends RequestOptions {
  /** `If-Match`: the version that the change was made from, an `updatedAt` in double quotes. */
  readonly ifMatch?: string;
}
