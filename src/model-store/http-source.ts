/** HTTP downloads with undici: redirect rules, the hub's checksums, and errors in words for the operator. */
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { ExpectedSum } from './model-files.ts';
import { ModelsError } from './models-error.ts';

const REDIRECTS_MAX = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Header names in lower case. */
type Headers = Readonly<Record<string, string | undefined>>;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Has to be read to its end, or destroyed. */
  readonly body: Readable;
  /** Checksum by the server that was asked; servers that it redirects to do not count. */
  readonly declared: ExpectedSum | null;
  /** The commit that the hub answers for. */
  readonly commit: string | null;
}

/** A secret for one server. */
export interface AccessToken {
  /** Such as `https://huggingface.co`: sent there and to no other server, not after a redirect either. */
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
   * @throws {ModelsError} `refused`, for any other redirect.
   * @throws undici's errors of the network, and the signal's reason.
   */
  async get(address: string, options: GetOptions): Promise<HttpAnswer> {
    const first = new URL(address);
    let url = first;
    let declared: ExpectedSum | null = null;
    let commit: string | null = null;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const { statusCode, headers: lists, body } = await this.#request(url, options);
      const headers: Headers = Object.fromEntries(
        Object.entries(lists).map(([name, value]) => [name.toLowerCase(), [value].flat()[0]]),
      );
      if (url.origin === first.origin) {
        declared ??= declaredSumOf(headers);
        commit ??= /^[0-9a-f]{40}$/.exec(headers['x-repo-commit'] ?? '')?.[0] ?? null;
      }
      if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
        return { status: statusCode, headers, body, declared, commit };
      }
      await body.dump();
      url = nextUrl(headers.location, url, first);
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
        // Checksums and lengths are those of the file itself.
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

/** Without the query of a signed address. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/**
 * Reads the hub's checksum: `x-linked-etag` is the SHA-256 of a large file; a small file lies in git itself, and its `etag`
 * is the SHA-1 of the git blob. Any other server's `etag` says nothing; `x-repo-commit` tells the hub from them.
 *
 * @see huggingface_hub, `get_hf_file_metadata`; git, "blob" objects
 */
function declaredSumOf(headers: Headers): ExpectedSum | null {
  const linked = unquoted(headers['x-linked-etag']);
  const bytes = lengthIn(headers['x-linked-size']);
  if (/^[0-9a-f]{64}$/.test(linked)) return { algorithm: 'sha256', hex: linked, bytes };
  const isHub = headers['x-repo-commit'] !== undefined;
  const etag = linked === '' && isHub ? unquoted(headers.etag) : linked;
  const gitBytes = bytes ?? lengthIn(headers['content-length']);
  if (!/^[0-9a-f]{40}$/.test(etag) || gitBytes === null) return null;
  return { algorithm: 'git-sha1', hex: etag, bytes: gitBytes };
}

function unquoted(etag: string | undefined): string {
  return (etag ?? '').replace(/^W\//, '').replaceAll('"', '').toLowerCase();
}

/** A length in a header; null where it is none. */
export function lengthIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** A failure that may be over at the next attempt. */
export class ServerTrouble extends Error {
  override readonly name = 'ServerTrouble';
  /** By `Retry-After`; null without it. */
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
  { status, headers }: HttpAnswer,
  asked: { readonly place: string; readonly url: string; readonly isRest: boolean },
  now: Date,
): ModelsError | ServerTrouble | null {
  if (MAY_PASS.has(status)) {
    const patienceMs = retryAfterMs(headers['retry-after'], now);
    return new ServerTrouble(`the server answered ${status}`, { retryAfterMs: patienceMs });
  }
  const refused = (why: string) =>
    new ModelsError('refused', `Cannot download "${asked.place}" from "${asked.url}": ${why}`);
  if (status !== 200 && status !== 206 && !(status === 416 && asked.isRest)) {
    const advice = ADVICE[status] ?? 'try another source (MODELS_BASE_URL)';
    return refused(`the server answered ${status}; ${advice}`);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? null : refused(`the server compresses it as "${encoding}"`);
}

/** Reads `Retry-After`, seconds or a date, as milliseconds from `now`; null when it is neither. @see RFC 9110, 10.2.3 */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
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
  const text = error instanceof Error ? error.message : String(error);
  return new ServerTrouble(REASONS[code] ?? text, { cause: error });
}
