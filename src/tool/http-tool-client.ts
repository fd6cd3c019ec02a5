/** Sends the requests of custom tools: to checked addresses only, without redirects, with a bound on what is read. */
import { type Agent, request } from 'undici';
import type { ToolMethod } from '../domain/tool/custom-tool.ts';
import type { WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import { guardedAgent, type ResolveName } from '../webhook/ssrf-guard.ts';
import type { ToolAnswer, ToolClient } from './http-tool.ts';

/** For connecting; the tool's own limit is for everything. */
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
  readonly #agent: Agent;
  readonly #userAgent: string;

  constructor(options: {
    readonly rules: WebhookUrlRules;
    readonly resolve: ResolveName;
    /** Of the server, for the `User-Agent`. */
    readonly version: string;
  }) {
    const { rules, resolve, version } = options;
    this.#userAgent = `Offhook/${version}`;
    const limits = { timeoutMs: CONNECT_MS_MAX, connections: CONNECTIONS_MAX };
    this.#agent = guardedAgent({ rules, resolve, ...limits });
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
    { url, method, headers, body }: Parameters<ToolClient['send']>[0],
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const answer = await request(url, {
      method,
      headers: { ...headers, 'User-Agent': this.#userAgent },
      ...(body === undefined ? {} : { body }),
      dispatcher: this.#agent,
      signal,
    });
    return { statusCode: answer.statusCode, ...(await bodyOf(answer.body)) };
  }

  /** Breaks every connection off. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#agent.destroyed) await this.#agent.destroy();
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BROKEN.includes(String(error.code));
}

async function bodyOf(body: AsyncIterable<Buffer>): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, Math.max(0, READ_BYTES_MAX - bytes)));
    bytes += chunk.length;
    if (bytes > READ_BYTES_MAX) break;
  }
  return { text: Buffer.concat(chunks).toString('utf8'), isWhole: bytes <= READ_BYTES_MAX };
}
