/** HTTP of CalDAV requests: to checked addresses only, without redirects, with bounds on time and on what is read. */
import { type Agent, request } from 'undici';
import type { WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import { guardedAgent, type ResolveName } from '../../webhook/ssrf-guard.ts';
import { CalendarServerError } from './calendar-server.ts';

const CONNECT_MS_MAX = 3000;

/** More of an answer is not read: two weeks of a busy calendar are some hundred kilobytes. */
const READ_BYTES_MAX = 4 * 1024 * 1024;

/** Requests to one server that run at one time; further ones wait within their limits of time. */
const CONNECTIONS_MAX = 16;

/** Sends over pooled connections. */
export class CalDavHttp {
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

  /**
   * As `fetch`, for a library that takes one; a redirect is an answer like others.
   *
   * @throws {CalendarServerError} when there is no answer, or too long a one; the signal's reason when aborted.
   */
  fetchWith(signal: AbortSignal): typeof fetch {
    return async (input, init = {}) => {
      try {
        return await this.#send(String(input), init, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof CalendarServerError) throw error;
        throw new CalendarServerError(reasonOf(error), { cause: error });
      }
    };
  }

  /** Breaks every connection off. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#agent.destroyed) await this.#agent.destroy();
  }

  async #send(url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const headers = Object.fromEntries(new Headers(init.headers));
    const answer = await request(url, {
      // REPORT is none of undici's names, but of its tokens.
      method: (init.method ?? 'GET') as 'GET',
      headers: { ...headers, 'user-agent': this.#userAgent },
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      dispatcher: this.#agent,
      signal,
    });
    const text = await textOf(answer.body);
    const isEmpty = [204, 205, 304].includes(answer.statusCode);
    const kept = ['content-type', 'etag'].flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    return new Response(isEmpty ? null : text, { status: answer.statusCode, headers: kept });
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > READ_BYTES_MAX) throw new CalendarServerError('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The code of the error, or its words where it has none: of the network or of the address, and never of a body. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message;
  return `no answer: ${code}`;
}
