/** Requests to MCP servers: to checked addresses only, without redirects, with a bound on what is read. */
import { fetch } from 'undici';
import type { WebhookUrlRules } from '../../domain/webhook/webhook-url.ts';
import { guardedAgent, type ResolveName } from '../../webhook/ssrf-guard.ts';

/** For connecting; a call of a tool has a limit for everything. */
const CONNECT_MS_MAX = 10_000;

/** Calls of one server's tools that run at one time; further ones wait within their limits of time. */
const CONNECTIONS_MAX = 16;

/** A longer answer breaks off: a list of a hundred tools has 100 kB. */
export const ANSWER_BYTES_MAX = 1_048_576;

/** A `fetch` of the web's interface, over connections of its own. */
export interface McpFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Breaks every connection off. Safe to call twice. */
  close(): Promise<void>;
}

/** Makes the `fetch` that all MCP servers share. */
export function openMcpFetch(options: {
  readonly rules: WebhookUrlRules;
  readonly resolve: ResolveName;
}): McpFetch {
  const limits = { timeoutMs: CONNECT_MS_MAX, connections: CONNECTIONS_MAX };
  const agent = guardedAgent({ ...options, ...limits });
  return {
    fetch: async (url, init = {}) => {
      // The stream of a server's own messages: nothing here waits for them. MCP, "Listening for messages".
      if (init.method === 'GET') return new Response(null, { status: 405 });
      const asked = { ...init, redirect: 'error', dispatcher: agent } as Parameters<
        typeof fetch
      >[1];
      return bounded((await fetch(url, asked)) as unknown as Response);
    },
    close: async () => {
      if (!agent.destroyed) await agent.destroy();
    },
  };
}

function bounded(response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) controller.error(new Error('the answer is longer than 1 MiB'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
