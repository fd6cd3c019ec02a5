/** Sends the requests of custom tools: to checked addresses only, without redirects, with a limit on the answer's length. */
import type { ToolMethod } from '../domain/tool/custom-tool.ts';
import { readAtMost } from '../lib/bounded-body.ts';
import { GuardedHttp, type GuardOptions } from '../webhook/ssrf-guard.ts';
import type { ToolAnswer, ToolClient } from './http-tool.ts';

/** Time limit for connecting; the tool's own limit is for everything. */
const CONNECT_MS_MAX = 10_000;

/** More of an answer is not read: the connection is closed instead. */
const READ_BYTES_MAX = 65_536;

/** Requests to one host that run at one time; further ones wait within their limits of time. */
const CONNECTIONS_MAX = 64;

const IDEMPOTENT: readonly ToolMethod[] = ['GET', 'PUT', 'DELETE'];

/** Errors of a connection that broke before the answer. */
const BROKEN = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT'];

/** Sends over pooled connections. */
export class HttpToolClient implements ToolClient {
  readonly #http: GuardedHttp;

  /** @param options.version of the server, for the `User-Agent`. */
  constructor(options: GuardOptions & { readonly version: string }) {
    const limits = { timeoutMs: CONNECT_MS_MAX, connections: CONNECTIONS_MAX };
    this.#http = new GuardedHttp({ ...options, ...limits });
  }

  /** Sends once, and a second time where an idempotent request met a broken connection. */
  async send(asked: Parameters<ToolClient['send']>[0], signal: AbortSignal): Promise<ToolAnswer> {
    try {
      return await this.#sendOnce(asked, signal);
    } catch (error) {
      const mayRetry = IDEMPOTENT.includes(asked.method) && isBroken(error) && !signal.aborted;
      if (!mayRetry) throw error;
      return this.#sendOnce(asked, signal);
    }
  }

  async #sendOnce(
    { url, body, ...asked }: Parameters<ToolClient['send']>[0],
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const answer = await this.#http.request(url, { ...asked, body: body ?? null, signal });
    return {
      statusCode: answer.statusCode,
      ...(await readAtMost(answer.body, READ_BYTES_MAX)),
    };
  }

  /** Breaks every connection off. Safe to call twice. */
  close(): Promise<void> {
    return this.#http.close();
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BROKEN.includes(String(error.code));
}
