/** One request on its way through the interface: collects the headers of its answer, and makes the answer. */

import type { ApiContext, Caller } from '../api-env.ts';
import type { AnswerBody, ApiAnswer, JsonAnswer } from './api-answer.ts';
import type { ApiRequest } from './api-request.ts';

/** What the schemas of a route made of each part of the request. */
export interface Given {
  query?: unknown;
  param?: unknown;
  json?: unknown;
}

/** Seconds that a database lock or a short lack of anything else usually lasts. */
const RETRY_AFTER_SECONDS = 5;

export class RequestContext implements ApiContext {
  readonly request: ApiRequest;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly given: Given = {};
  caller: Caller | undefined = undefined;
  bodyText = '';
  retryAfterSeconds = RETRY_AFTER_SECONDS;
  readonly #headers: string[];

  /** @param headers of every answer, by pairs; they are copied. */
  constructor(
    request: ApiRequest,
    facts: {
      readonly requestId: string;
      readonly params: Readonly<Record<string, string>>;
      readonly headers: readonly string[];
    },
  ) {
    this.request = request;
    this.requestId = facts.requestId;
    this.params = facts.params;
    this.#headers = ['X-Request-Id', facts.requestId, ...facts.headers];
  }

  valid(part: keyof Given): unknown {
    return this.given[part];
  }

  header(name: string, value: string): void {
    const index = this.#indexOf(name);
    if (index === -1) this.#headers.push(name, value);
    else this.#headers[index + 1] = value;
  }

  addHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  json<Body, Status extends number>(body: Body, status: Status): JsonAnswer<Body, Status> {
    this.header('Content-Type', 'application/json');
    return this.body(JSON.stringify(body), status);
  }

  body<Status extends number>(
    body: AnswerBody,
    status: Status,
    headers: Readonly<Record<string, string>> = {},
  ): ApiAnswer<Status> {
    for (const name in headers) this.header(name, headers[name] ?? '');
    const sizeBytes = this.#sizeOf(body, status);
    if (sizeBytes !== undefined && this.#indexOf('Content-Length') === -1) {
      this.#headers.push('Content-Length', String(sizeBytes));
    }
    return { status, headers: this.#headers, body };
  }

  /** Undefined where nobody knows, or nobody may say. RFC 9110, 8.6. */
  #sizeOf(body: AnswerBody, status: number): number | undefined {
    if (typeof body === 'string') return Buffer.byteLength(body);
    if (body instanceof Uint8Array) return body.length;
    const isBodyless = status === 204 || status === 304 || this.request.method === 'HEAD';
    return body === null && !isBodyless ? 0 : undefined;
  }

  /** Where a header's name stands, in any case; -1 when it is not there. */
  #indexOf(name: string): number {
    const headers = this.#headers;
    for (let index = 0; index < headers.length; index += 2) {
      const other = headers[index];
      if (other === name) return index;
      if (other?.length === name.length && other.toLowerCase() === name.toLowerCase()) return index;
    }
    return -1;
  }
}
