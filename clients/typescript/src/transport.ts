/** Sends requests: retries, time-outs, and errors of answers. */
import { apiErrorOf } from './api-errors.ts';
import { Attempt, type Opened } from './attempt.ts';
import { ERROR_BYTES_MAX, readJson, readText } from './body.ts';
import { type Download, openDownload } from './download.ts';
import { InvalidResponseError, type OffhookError } from './errors.ts';
import { LiveEventStream } from './live-events.ts';
import { PageRequest } from './pages.ts';
import type { ConditionalOptions, OffhookOptions } from './request-options.ts';
import { type RetryRule, retryWaitMs } from './retry.ts';
import { sleep } from './sleep.ts';
import { VERSION } from './version.ts';

/** What a method knows of its request. */
export interface RequestFacts {
  /** Name of the method, such as `agents.get`; paths have people's numbers in them, so errors name this. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly retry: RetryRule;
  readonly query?: object;
  readonly body?: object;
  readonly paging?: 'offset' | 'cursor';
  /** Content type of the answer: JSON unless given. */
  readonly accept?: string;
}

export class Transport {
  readonly limits: {
    readonly timeoutMs: number;
    readonly maxRetries: number;
    readonly maxRetryAfterMs: number;
    readonly maxResponseBytes: number;
  };
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #fetch: typeof globalThis.fetch;

  /** @throws {TypeError} when the key or the address is none. */
  constructor(options: OffhookOptions) {
    const { apiKey, baseUrl } = options;
    if (!/^[!-~]+$/.test(apiKey)) {
      throw new TypeError('Cannot use the API key: it is empty or has blanks');
    }
    if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
      throw new TypeError(`Cannot use the base URL "${baseUrl}": expected https://…`);
    }
    this.#apiKey = apiKey;
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.limits = {
      timeoutMs: options.timeoutMs ?? 60_000,
      maxRetries: options.maxRetries ?? 2,
      maxRetryAfterMs: options.maxRetryAfterMs ?? 60_000,
      maxResponseBytes: options.maxResponseBytes ?? 32 * 1024 * 1024,
    };
  }

  /** The answer as JSON. */
  json<Answer>(facts: RequestFacts, options: ConditionalOptions): Promise<Answer> {
    return this.#repeated(facts, options, async ({ response }) => {
      return (await readJson(response, this.limits.maxResponseBytes)) as Answer;
    });
  }

  /** An answer without a body. */
  nothing(facts: RequestFacts, options: ConditionalOptions): Promise<void> {
    return this.#repeated(facts, options, async ({ response }) => {
      await response.body?.cancel();
    });
  }

  pages<Item, Page extends object>(
    facts: RequestFacts,
    options: ConditionalOptions,
  ): PageRequest<Item, Page> {
    const { paging = 'offset', query = {} } = facts;
    const load = (changed: object) =>
      this.json<Page>({ ...facts, query: { ...query, ...changed } }, options);
    return new PageRequest({ style: paging, query, load });
  }

  download(facts: RequestFacts, options: ConditionalOptions): Promise<Download> {
    return this.#repeated(facts, options, async (opened) => {
      return openDownload(opened, facts.accept ?? '');
    });
  }

  liveEvents(facts: RequestFacts, options: ConditionalOptions): LiveEventStream {
    const { maxRetries = this.limits.maxRetries, signal } = options;
    const open = () => this.open(facts, options);
    return new LiveEventStream({ open, signal, limits: { ...this.limits, maxRetries } });
  }

  /**
   * One attempt, up to the headers of a good answer; its time limit goes on.
   *
   * @throws {TypeError} when a header or the body cannot be sent.
   */
  async open(
    facts: RequestFacts,
    options: ConditionalOptions,
    idempotencyKey?: string,
  ): Promise<Opened> {
    const { operation, method, body } = facts;
    const timeoutMs = options.timeoutMs ?? this.limits.timeoutMs;
    const url = this.#baseUrl + facts.path + queryText(facts.query);
    // What cannot be sent is the caller's error, no failure of the connection.
    const headers = new Headers(this.#headers(facts, options, idempotencyKey));
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const attempt = new Attempt(operation, timeoutMs, options.signal);
    // The key must not follow to another server.
    const init = {
      method,
      headers,
      ...content,
      redirect: 'manual',
      signal: attempt.signal,
    } as const;
    try {
      const response = await this.#fetch(url, init);
      if (response.ok) return { response, attempt };
      throw await refusalOf(operation, response);
    } catch (error) {
      attempt.stop();
      throw attempt.failure(error);
    }
  }

  /** Attempts until one succeeds, or its failure is for good. */
  async #repeated<Value>(
    facts: RequestFacts,
    options: ConditionalOptions,
    read: (opened: Opened) => Promise<Value>,
  ): Promise<Value> {
    const maxRetries = options.maxRetries ?? this.limits.maxRetries;
    const limits = { ...this.limits, maxRetries };
    const key = facts.retry === 'keyed' ? keyOf(options) : undefined;
    for (let number = 0; ; number += 1) {
      try {
        return await readOnce(await this.open(facts, options, key), read);
      } catch (error) {
        const plan = { rule: facts.retry, attempt: number, chance: Math.random() };
        const waitMs = retryWaitMs(error, plan, limits);
        if (waitMs === null) throw error;
        await sleep(waitMs, options.signal);
      }
    }
  }

  #headers(
    { accept = 'application/json', body }: RequestFacts,
    { ifMatch }: ConditionalOptions,
    idempotencyKey: string | undefined,
  ): Record<string, string> {
    return {
      Authorization: `Bearer ${this.#apiKey}`,
      // Errors are JSON, also where the answer is not.
      Accept: accept === 'application/json' ? accept : `${accept}, application/json;q=0.9`,
      'User-Agent': `offhook-typescript/${VERSION}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
      ...(idempotencyKey === undefined ? {} : { 'X-Idempotency-Key': idempotencyKey }),
    };
  }
}

/** The caller's own key, or a new one for this request. */
function keyOf({ idempotencyKey }: ConditionalOptions): string {
  return idempotencyKey ?? crypto.randomUUID();
}

/** Reads an answer within the time of its attempt. */
async function readOnce<Value>(
  opened: Opened,
  read: (opened: Opened) => Promise<Value>,
): Promise<Value> {
  try {
    return await read(opened);
  } catch (error) {
    throw opened.attempt.failure(error);
  } finally {
    opened.attempt.stop();
  }
}

/** The error of an answer that is no success. A browser shows a redirect as status 0. */
async function refusalOf(operation: string, response: Response): Promise<OffhookError> {
  if (response.status < 400) {
    await response.body?.cancel();
    return new InvalidResponseError(
      `Cannot do "${operation}": the answer is a redirect; is baseUrl the address of the server itself?`,
      { status: response.status },
    );
  }
  const body = await readText(response, ERROR_BYTES_MAX);
  return apiErrorOf(operation, response, body, Date.now());
}

/** @param query By the names of the interface; what is undefined is left out. */
function queryText(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

/**
 * A value as a segment of a path.
 *
 * @throws {RangeError} when it is empty, or would lead to another path.
 */
export function segment(name: string, value: string | number): string {
  const text = String(value);
  if (text === '' || text === '.' || text === '..') {
    throw new RangeError(`Cannot use "${text}" as ${name}: it names no resource`);
  }
  return encodeURIComponent(text);
}
