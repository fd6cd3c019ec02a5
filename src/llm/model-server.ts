/** Common parts of the adapters of model servers: time limits of an answer, HTTP requests and their errors. */
import { readAtMost } from '../lib/bounded-body.ts';
import type { Clock } from '../lib/clock.ts';
import { jsonOf, messageOf, valueAt } from '../lib/unknown-value.ts';
import { LanguageModelError, type ModelEvent, type ModelRequest } from './language-model.ts';

/** How long a model may take for the first and each further piece, in milliseconds. */
export interface AnswerLimits {
  /** Until the first piece of an answer; a model that is still being loaded needs some seconds. */
  readonly firstMs: number;
  /** Time limit between two pieces. */
  readonly nextMs: number;
}

/** Limits unless others are given. */
export const DEFAULT_ANSWER_LIMITS: AnswerLimits = { firstMs: 10_000, nextMs: 10_000 };

interface WatchOptions {
  readonly clock: Clock;
  readonly limits: AnswerLimits;
  readonly modelName: string;
}

/**
 * Streams an answer within its limits. However it ends, the request is closed: a server would go on generating.
 *
 * @param ask asks the server; it calls `heard` for each piece.
 * @throws {LanguageModelError}
 * @throws the signal's reason when aborted.
 */
export async function* watchedAnswer(
  options: WatchOptions,
  { signal }: Pick<ModelRequest, 'signal'>,
  ask: (watch: AnswerWatch) => AsyncIterable<ModelEvent>,
): AsyncIterable<ModelEvent> {
  signal.throwIfAborted();
  const watch = new AnswerWatch({ ...options, signal });
  try {
    yield* ask(watch);
  } catch (error) {
    throw watch.explain(error);
  } finally {
    watch.close();
  }
}

/** Ends an answer that does not come, or stops coming. */
export class AnswerWatch {
  readonly #options: WatchOptions;
  readonly #end = new AbortController();
  /** Signal for the request: aborted by the caller, by a limit, and by `close`. */
  readonly signal: AbortSignal;
  #cancel: () => void = () => undefined;

  constructor(options: WatchOptions & { readonly signal: AbortSignal }) {
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#end.signal]);
    this.#wait(options.limits.firstMs);
  }

  /**
   * Call it for each piece of the answer: restarts the time limit. Pieces still buffered at an abort are not passed on.
   *
   * @throws the signal's reason when aborted.
   */
  heard(): void {
    this.signal.throwIfAborted();
    this.#wait(this.#options.limits.nextMs);
  }

  /** Ends the wait, and the request if it is still open. Safe to call twice. */
  close(): void {
    this.#cancel();
    this.#end.abort(new Error('the answer is complete'));
  }

  /** Error to throw for a failed request: the limit's own error, if the limit ended it. */
  explain(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    if (error instanceof LanguageModelError) return error;
    // Node's fetch says "terminated" of a connection that ends in mid-answer.
    const said = messageOf(error);
    const reason = said === 'terminated' ? 'the connection broke off' : said;
    return new LanguageModelError(
      `Cannot get an answer from "${this.#options.modelName}": ${reason}`,
      {
        cause: error,
      },
    );
  }

  #wait(delayMs: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(delayMs, () => {
      const reason = `nothing came for ${delayMs} ms`;
      const message = `Cannot get an answer from "${this.#options.modelName}": ${reason}`;
      this.#end.abort(new LanguageModelError(message));
    });
  }
}

/** How long a server may take to say that it is there. */
export const CHECK_TIMEOUT_MS = 2000;

/** Room for the newest part of a call and the answer: fits a 4-billion-parameter model and the speech models on 16 GB. */
export const DEFAULT_CONTEXT_TOKENS = 8192;

/** Bad Request, Content Too Large, Unprocessable Content. */
const OF_REQUEST: ReadonlySet<number> = new Set([400, 413, 422]);

/** Most of an error answer that is read. */
const ERROR_BYTES_MAX = 1000;

/** Longest part of a server's own words that is passed on. */
const WORDS_LENGTH_MAX = 200;

/**
 * Sends a request to a model server; errors of the connection and refusals are worded for the operator.
 *
 * @throws {LanguageModelError}
 * @throws the signal's reason when aborted.
 */
export async function fetchFromServer(
  server: string,
  url: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  const response = await connect(server, url, init);
  if (response.ok) return response;
  const read = await readAtMost(response.body ?? [], ERROR_BYTES_MAX).catch(() => undefined);
  // Some servers repeat the key that they refuse; log and `/readyz` show this.
  const key = new Headers(init.headers).get('authorization')?.replace(/^Bearer /, '') ?? '';
  const isOfRequest = OF_REQUEST.has(response.status);
  // Words about the request may repeat the caller's.
  const words = isOfRequest ? '' : serverWords(jsonOf(read?.text ?? ''), key);
  const status = `it answered ${response.status}`;
  throw new LanguageModelError(
    `Cannot use ${server}: ${words === '' ? status : `${status}: ${words}`}`,
    { cause: new Error(read?.text ?? ''), isOfRequest },
  );
}

/**
 * Words of a server about its fault, on one line: `error` of Ollama, `error.message` of OpenAI, `detail` of others.
 *
 * @param answer its JSON; undefined where it sent none, such as the page of a proxy.
 * @param key is left out of them.
 * @returns empty where it says nothing.
 */
export function serverWords(answer: unknown, key = ''): string {
  const places = ['error.message', 'error', 'detail', 'message'];
  const found = places.map((path) => valueAt(answer, path));
  const words = found.find((value) => typeof value === 'string') ?? '';
  return (key === '' ? words : words.replaceAll(key, '…'))
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, WORDS_LENGTH_MAX);
}

async function connect(
  server: string,
  url: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new LanguageModelError(`Cannot reach ${server}: ${networkReason(error)}`, {
      cause: error,
    });
  }
}

/** `fetch` hides the reason of a failed connection in the error's cause. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'no such host';
  return code === '' ? 'the connection failed' : code;
}
