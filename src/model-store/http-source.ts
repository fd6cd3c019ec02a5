/** HTTP downloads with undici: redirect rules, and errors in words for the operator. */
import { type Dispatcher, request } from 'undici';
import { messageOf } from '../lib/unknown-value.ts';
import { ModelsError } from './models-error.ts';

const REDIRECTS_MAX = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** A secret for one server. */
export interface AccessToken {
  /** Origin, such as `https://huggingface.co`: no other server gets the token, not after a redirect either. */
  readonly origin: string;
  readonly token: string;
}

interface GetOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Time limit for the answer's head, and between two chunks of its body. */
  readonly stallMs: number;
}

/** Downloads from one set of servers with one token. */
export class HttpSource {
  readonly #dispatcher: Dispatcher;
  readonly #userAgent: string;
  readonly #token: AccessToken | null;

  /** @param options.dispatcher stays open: its maker closes it. */
  constructor(options: {
    readonly dispatcher: Dispatcher;
    readonly userAgent: string;
    readonly token: AccessToken | null;
  }) {
    this.#dispatcher = options.dispatcher;
    this.#userAgent = options.userAgent;
    this.#token = options.token;
  }

  /**
   * Requests a file, and follows redirects: https to https, and a mirror to itself.
   *
   * @returns the answer, whose body has to be read to its end, or destroyed.
   * @throws {ModelsError} `refused`, for any other redirect.
   * @throws undici's errors of the network, and the signal's reason.
   */
  async get(address: string, options: GetOptions): Promise<Dispatcher.ResponseData> {
    const first = new URL(address);
    let url = first;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const answer = await this.#request(url, options);
      const location = headerOf(answer, 'location');
      if (!REDIRECTS.has(answer.statusCode) || location === undefined) return answer;
      await answer.body.dump();
      url = nextUrl(location, url, first);
    }
    throw new ModelsError('refused', `Cannot get "${shown(first)}": too many redirects`);
  }

  #request(url: URL, { headers, signal, stallMs }: GetOptions): Promise<Dispatcher.ResponseData> {
    const authorization =
      this.#token?.origin === url.origin ? { authorization: `Bearer ${this.#token.token}` } : {};
    return request(url, {
      dispatcher: this.#dispatcher,
      signal,
      headersTimeout: stallMs,
      bodyTimeout: stallMs,
      headers: {
        ...headers,
        ...authorization,
        'user-agent': this.#userAgent,
        // Checksums and lengths are those of the uncompressed file.
        'accept-encoding': 'identity',
      },
    });
  }
}

function nextUrl(location: string, from: URL, first: URL): URL {
  const to = URL.parse(location, from.href);
  const isSafe = to?.protocol === 'https:' && from.protocol === 'https:';
  const isSame = to !== null && to.origin === first.origin;
  if (to !== null && (isSafe || isSame) && to.username === '' && to.password === '') return to;
  const where = to === null ? 'an invalid address' : `"${to.origin}"`;
  throw new ModelsError(
    'refused',
    `Cannot get "${shown(first)}": the server redirects to ${where}; only https to https is followed, or a mirror to itself`,
  );
}

/** The URL without its query, which may hold a signature. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** The value of a header, the first where there are several. @param name in lower case. */
export function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

/** A failure that may be over at the next attempt. */
export class ServerTrouble extends Error {
  override readonly name = 'ServerTrouble';
  /** Wait by `Retry-After`; null without it, and where it is a date. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

const MAY_PASS = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

const ADVICE: Readonly<Record<number, string>> = {
  401: 'set HF_TOKEN, or HF_TOKEN_FILE, to a token that may read it',
  403: 'set HF_TOKEN, or HF_TOKEN_FILE, to a token that may read it, and accept its terms on its page if it has any',
  404: 'it is not there; on a mirror, copy it to that place, and else see whether a newer Offhook has a newer manifest',
  407: 'the proxy wants a password',
  410: 'it was taken away; see whether a newer Offhook has a newer manifest',
  451: 'it is not available where you are',
};

/** The error of an answer; null for 200, 206, and 416 to a request for the rest of a file. */
export function answerError(
  answer: Dispatcher.ResponseData,
  asked: { readonly place: string; readonly url: string; readonly isRest: boolean },
): ModelsError | ServerTrouble | null {
  const { statusCode: status } = answer;
  if (MAY_PASS.has(status)) {
    const retryAfterMs = 1000 * Number(headerOf(answer, 'retry-after') ?? Number.NaN);
    return new ServerTrouble(`the server answered ${status}`, {
      retryAfterMs: Number.isNaN(retryAfterMs) ? null : retryAfterMs,
    });
  }
  const refused = (why: string) =>
    new ModelsError('refused', `Cannot download "${asked.place}" from "${asked.url}": ${why}`);
  if (status !== 200 && status !== 206 && !(status === 416 && asked.isRest)) {
    const advice = ADVICE[status] ?? 'try another source (MODELS_BASE_URL)';
    return refused(`the server answered ${status}; ${advice}`);
  }
  const encoding = headerOf(answer, 'content-encoding') ?? 'identity';
  return encoding === 'identity' ? null : refused(`the server compresses it as "${encoding}"`);
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up just now',
  ECONNRESET: 'the connection was cut off',
  UND_ERR_SOCKET: 'the connection was cut off',
  UND_ERR_CONNECT_TIMEOUT: 'it cannot be reached',
  UND_ERR_HEADERS_TIMEOUT: 'nothing came for too long',
  UND_ERR_BODY_TIMEOUT: 'nothing came for too long',
  ETIMEDOUT: 'it cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EHOSTUNREACH: 'it cannot be reached',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is not signed by a known authority (NODE_EXTRA_CA_CERTS names a file of your own)',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is not signed by a known authority (NODE_EXTRA_CA_CERTS names a file of your own)',
};

/** An error of the network in words for the operator. */
export function networkError(error: unknown): ServerTrouble {
  if (error instanceof ServerTrouble) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return new ServerTrouble(REASONS[code] ?? messageOf(error), { cause: error });
}
