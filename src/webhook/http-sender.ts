/** Sends deliveries over HTTP: signed, over pooled connections, to checked addresses, within one limit of time. */

import { type Agent, request } from 'undici';
import { ServiceError } from '../domain/service-error.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import { type Clock, TimeLimit } from '../lib/clock.ts';
import {
  type Answer,
  answerOfError,
  answerOfStatus,
  keptHeaders,
  refusedAnswer,
  type Sender,
  type SentDelivery,
  timeoutAnswer,
} from './answer.ts';
import { signatureHeaders } from './signature.ts';
import { type GuardOptions, guardedAgent } from './ssrf-guard.ts';

/** Time limit for name look-up, connection, TLS and answer together. @see the interface specification, "Limits" */
const ATTEMPT_MS_MAX = 10_000;

/** Parts and settings of a sender. */
export interface HttpSenderOptions extends GuardOptions {
  readonly clock: Clock;
  /** Version of the server, for the `User-Agent`. */
  readonly version: string;
  /** `ATTEMPT_MS_MAX` unless given. */
  readonly timeoutMs?: number;
}

/** Makes one HTTP POST an attempt; follows no redirects. */
export class HttpSender implements Sender {
  readonly #rules: WebhookUrlRules;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #fixedHeaders: Readonly<Record<string, string>>;
  readonly #agent: Agent;

  constructor(options: HttpSenderOptions) {
    const { timeoutMs = ATTEMPT_MS_MAX } = options;
    this.#rules = options.rules;
    this.#clock = options.clock;
    this.#timeoutMs = timeoutMs;
    this.#fixedHeaders = {
      'Content-Type': 'application/json',
      'User-Agent': `Offhook/${options.version}`,
    };
    // A connection is opened when all others are busy, so that endpoints on one host do not wait for each other; the deliverer
    // bounds how many there are.
    this.#agent = guardedAgent({ ...options, timeoutMs });
  }

  async send({ url, ...content }: SentDelivery, signal: AbortSignal): Promise<Answer> {
    const { eventId: id, body, ...keys } = content;
    const timestamp = String(Math.floor(this.#clock.now().getTime() / 1000));
    const signature = signatureHeaders({ id, timestamp, body }, keys);
    const headers = { ...this.#fixedHeaders, ...signature };
    const answer = await this.#post(url, { headers, body, signal });
    const isSent = answer.kind !== 'refused';
    return { ...answer, requestHeaders: isSent ? keptHeaders(headers) : null };
  }

  async #post(
    address: string,
    content: {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly signal: AbortSignal;
    },
  ): Promise<Answer> {
    const { headers, body, signal } = content;
    using limit = new TimeLimit(this.#clock, this.#timeoutMs, {
      signal,
      reason: 'it takes too long',
    });
    try {
      // It was checked when it was registered, but the rules may be others by now.
      const url = checkWebhookUrl(address, this.#rules);
      const answer = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher: this.#agent,
        signal: limit.signal,
      });
      return answerOfStatus(answer.statusCode, {
        responseText: await beginningOf(answer.body),
        responseHeaders: keptHeaders(answer.headers),
      });
    } catch (error) {
      if (limit.isOver) return timeoutAnswer(this.#timeoutMs);
      if (error instanceof ServiceError) return refusedAnswer(error.message);
      return answerOfError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Breaks every connection off. Safe to call twice. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** More of a body is not read: the connection is closed instead. */
const READ_BYTES_MAX = 65_536;

const KEPT_BYTES_MAX = 2048;

/**
 * The beginning of an answer's body; null when there is none. Never rejects: the status decides, even when the body breaks off
 * or never ends. Bytes that are no UTF-8, such as of a compressed body, become question marks; NUL would end the
 * text in other tools.
 */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string | null> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      kept.push(chunk.subarray(0, Math.max(0, KEPT_BYTES_MAX - bytes)));
      bytes += chunk.length;
      if (bytes > READ_BYTES_MAX) break;
    }
  } catch {
    // The bytes received so far are kept.
  }
  return bytes === 0 ? null : Buffer.concat(kept).toString('utf8').replaceAll('\0', '\uFFFD');
}
