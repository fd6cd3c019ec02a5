/** Sends deliveries over HTTP: signed, over pooled connections, to checked addresses, within one limit of time. */
import { Agent, type Dispatcher } from 'undici';
import { ServiceError } from '../domain/service-error.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import type { Clock } from '../lib/clock.ts';
import {
  type Answer,
  answerOfError,
  answerOfStatus,
  refusedAnswer,
  type Sender,
  type SentDelivery,
  timeoutAnswer,
} from './answer.ts';
import { type SignedRequest, signedRequest } from './signature.ts';
import { type ResolveName, ssrfGuard } from './ssrf-guard.ts';

/** For looking the name up, connecting, TLS, and the answer together. @see the interface specification, "Limits" */
const ATTEMPT_MS_MAX = 10_000;

/** Servers keep idle connections for 5 seconds and more; one that they have just closed would cost an attempt. */
const IDLE_CONNECTION_MS = 4000;

/** Where a URL leads. */
interface Target {
  readonly origin: string;
  readonly path: string;
}

/** Parts and settings of a sender. */
export interface HttpSenderOptions {
  readonly rules: WebhookUrlRules;
  readonly resolve: ResolveName;
  readonly clock: Clock;
  /** Of the server, for the `User-Agent`. */
  readonly version: string;
  /** `ATTEMPT_MS_MAX` unless given. */
  readonly timeoutMs?: number;
}

/** Makes one HTTP POST an attempt; follows no redirects. */
export class HttpSender implements Sender {
  readonly #rules: WebhookUrlRules;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #fixedHeaders: readonly string[];
  readonly #agent: Agent;

  constructor(options: HttpSenderOptions) {
    const { rules, resolve, timeoutMs = ATTEMPT_MS_MAX } = options;
    this.#rules = rules;
    this.#clock = options.clock;
    this.#timeoutMs = timeoutMs;
    this.#fixedHeaders = [
      'Content-Type',
      'application/json',
      'User-Agent',
      `Offhook/${options.version}`,
    ];
    // A connection carries one request at a time and is opened when all others are busy, so that endpoints on one host do
    // not wait for each other; the deliverer bounds how many there are. Time is limited here, as a whole.
    this.#agent = new Agent({
      connect: ssrfGuard({ rules, resolve, timeoutMs }),
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_CONNECTION_MS,
    });
  }

  send(delivery: SentDelivery, onAnswer: (answer: Answer) => void): () => void {
    const target = this.#targetOf(delivery.url);
    if (typeof target === 'string') return later(() => onAnswer(refusedAnswer(target)));
    let isBegun = false;
    const reader = new AnswerReader((answer) => {
      cancelTimeout();
      // undici says at once what it cannot send at all.
      if (isBegun) onAnswer(answer);
      else setImmediate(onAnswer, answer);
    });
    const cancelTimeout = this.#clock.after(this.#timeoutMs, () => reader.timeOut(this.#timeoutMs));
    const { headers, body } = this.#sign(delivery);
    headers.push(...this.#fixedHeaders);
    this.#agent.dispatch({ ...target, method: 'POST', headers, body }, reader);
    isBegun = true;
    return () => {
      cancelTimeout();
      reader.abandon();
    };
  }

  /** Breaks every connection off. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#agent.destroyed) await this.#agent.destroy();
  }

  #sign({ eventId: id, body, ...keys }: SentDelivery): SignedRequest {
    const timestamp = String(Math.floor(this.#clock.now().getTime() / 1000));
    return signedRequest({ id, timestamp, body }, keys);
  }

  /** The URL was checked when it was registered, but the rules may be others by now. @returns why not, as text. */
  #targetOf(text: string): Target | string {
    try {
      const { origin, pathname, search } = checkWebhookUrl(text, this.#rules);
      return { origin, path: pathname + search };
    } catch (error) {
      if (error instanceof ServiceError) return error.message;
      throw error;
    }
  }
}

function later(deed: () => void): () => void {
  const immediate = setImmediate(deed);
  return () => clearImmediate(immediate);
}

/** More of a body is not read: the connection is closed instead. */
const READ_BYTES_MAX = 65_536;

const KEPT_BYTES_MAX = 2048;

/** Reads one answer and gives it to `onAnswer`, once. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #onAnswer: (answer: Answer) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | null = null;
  #kept: Buffer[] = [];
  #readBytes = 0;
  #isOver = false;

  constructor(onAnswer: (answer: Answer) => void) {
    this.#onAnswer = onAnswer;
  }

  /** The HTTP status decides; an endless body changes nothing. */
  timeOut(timeoutMs: number): void {
    this.#end(this.#answerSoFar ?? timeoutAnswer(timeoutMs));
    this.#abort();
  }

  /** Ends the request; no answer is given any more. */
  abandon(): void {
    this.#isOver = true;
    this.#abort();
  }

  /** An attempt that ended while it waited for its connection is not sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode >= 200) this.#statusCode = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = KEPT_BYTES_MAX - this.#readBytes;
    if (room > 0) this.#kept.push(Buffer.from(chunk.subarray(0, room)));
    this.#readBytes += chunk.length;
    if (this.#readBytes > READ_BYTES_MAX) this.#abort();
  }

  onResponseEnd(): void {
    this.#endSoFar();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#endSoFar(error);
  }

  get #answerSoFar(): Answer | undefined {
    if (this.#statusCode === null) return undefined;
    return answerOfStatus(this.#statusCode, textOf(this.#kept));
  }

  /** @param error why there is no more, where something failed. */
  #endSoFar(error?: Error): void {
    this.#end(this.#answerSoFar ?? answerOfError(error ?? new Error('an answer without status')));
  }

  #end(answer: Answer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onAnswer(answer);
  }

  #abort(): void {
    this.#controller?.abort(new Error('the attempt is over'));
  }
}

/** Bytes that are no UTF-8, such as of a compressed body, become question marks; NUL would end the text in other tools. */
function textOf(chunks: readonly Buffer[]): string | null {
  if (chunks.length === 0) return null;
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\uFFFD');
}
