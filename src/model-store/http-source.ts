/** Gets files over HTTP with undici, following redirects by rules of our own. */
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { ExpectedSum } from './file-sum.ts';
import { ModelsError } from './models-error.ts';

const REDIRECTS_MAX = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Has to be read to its end, or destroyed. */
  readonly body: Readable;
  /** What the server that was asked says of the file; a server that it sent us on to has no say. */
  readonly declared: ExpectedSum | null;
  readonly commit: string | null;
}

/** A secret for one server. */
export interface AccessToken {
  /** Such as `https://huggingface.co`: sent there and nowhere else, not after a redirect either. */
  readonly origin: string;
  readonly token: string;
}

/** The address for the operator's eyes: without what a signed address has behind its question mark. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

export class HttpSource {
  readonly #dispatcher: Dispatcher;
  readonly #userAgent: string;
  readonly #token: AccessToken | null;

  /** @param options.dispatcher is closed by whoever made it. */
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
   * Asks for a file.
   *
   * @throws {ModelsError} `refused`, when it is sent on to where it must not go.
   * @throws undici's errors of the network, and the signal's reason.
   */
  async get(
    address: string,
    options: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ): Promise<HttpAnswer> {
    const first = new URL(address);
    let url = first;
    let declared: ExpectedSum | null = null;
    let commit: string | null = null;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const { statusCode, headers, body } = await this.#request(url, options);
      const single = singleHeaders(headers);
      if (url.origin === first.origin) {
        declared ??= declaredSumOf(single);
        commit ??= declaredCommitOf(single);
      }
      if (!REDIRECTS.has(statusCode) || single.location === undefined) {
        return { status: statusCode, headers: single, body, declared, commit };
      }
      await body.dump();
      url = nextUrl(single.location, url, first);
    }
    throw new ModelsError(
      'refused',
      `Cannot get "${shownUrl(first)}": the server sends us from one place to the next without end`,
    );
  }

  #request(
    url: URL,
    options: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const mayKnow = this.#token !== null && this.#token.origin === url.origin;
    return request(url, {
      dispatcher: this.#dispatcher,
      method: 'GET',
      signal: options.signal,
      // The caller watches the time.
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: {
        ...options.headers,
        'user-agent': this.#userAgent,
        // Sums and lengths are those of the file itself.
        'accept-encoding': 'identity',
        ...(mayKnow ? { authorization: `Bearer ${this.#token?.token}` } : {}),
      },
    });
  }
}

/** Encrypted stays encrypted; what was never encrypted, a mirror on the local network, stays on that server. */
function nextUrl(location: string, from: URL, first: URL): URL {
  const to = URL.parse(location, from.href);
  const isSafe = to?.protocol === 'https:' && from.protocol === 'https:';
  const isSame = to !== null && to.origin === first.origin;
  if (to === null || !(isSafe || isSame) || to.username !== '' || to.password !== '') {
    const where = to === null ? 'an address that makes no sense' : `"${to.origin}"`;
    throw new ModelsError(
      'refused',
      `Cannot get "${shownUrl(first)}": the server sends us on to ${where}, and only https to https is followed, or a mirror to itself`,
    );
  }
  return to;
}

function singleHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value[0] : value,
    ]),
  );
}

/** Header names in lower case. */
type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Reads the sum out of an answer's headers.
 *
 * Large files: `x-linked-etag` is their SHA-256. Small ones lie in git itself: the `etag` is the SHA-1 of the git blob. Any
 * other server's `etag` says nothing about the bytes; a hub is known by `x-repo-commit`.
 *
 * @returns null when none is declared.
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

/** The commit that the hub answered for; null when it says none. */
function declaredCommitOf(headers: Headers): string | null {
  const commit = headers['x-repo-commit'];
  return commit !== undefined && /^[0-9a-f]{40}$/.test(commit) ? commit : null;
}

function unquoted(etag: string | undefined): string {
  return (etag ?? '').replace(/^W\//, '').replaceAll('"', '').toLowerCase();
}

function lengthIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
