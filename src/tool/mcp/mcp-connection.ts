/** One MCP server: connects when needed, lists and calls its tools, by bounded requests to checked addresses only. */
import {
  Client,
  type JsonSchemaValidatorResult,
  ProtocolError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { fetch } from 'undici';
import type { McpServer } from '../../domain/tool/mcp-server.ts';
import { type GuardOptions, guardedAgent } from '../../webhook/ssrf-guard.ts';

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the server declares the tool as read-only. */
  readonly isRead: boolean;
}

/** Answer of a tool. */
export interface McpAnswer {
  readonly text: string;
  /** Whether the server says that it failed. */
  readonly isError: boolean;
}

/** How long connecting and listing may take. */
const LIST_MS_MAX = 5000;

/** A call has the limit of the toolbox; this one is behind it. */
const CALL_MS_MAX = 30_000;

/** More pages of a list are not asked for. */
const PAGES_MAX = 5;

/** The session is not known to the server any more, which has not carried the request out. MCP, "Session management". */
const SESSION_GONE = 404;

/** A connection to one MCP server; opened when it is first needed. */
export class McpConnection {
  readonly #server: McpServer;
  readonly #fetch: McpFetch['fetch'];
  readonly #version: string;
  #client: Promise<Client> | undefined;

  constructor(options: {
    readonly server: McpServer;
    readonly fetch: McpFetch['fetch'];
    /** Version of this program. */
    readonly version: string;
  }) {
    this.#server = options.server;
    this.#fetch = options.fetch;
    this.#version = options.version;
  }

  /** @throws {Error} when the server does not answer in time, or not by the protocol. */
  async tools(signal: AbortSignal): Promise<readonly McpTool[]> {
    const { tools } = await this.#withClient(signal, async (client) =>
      client.listTools({}, { signal, timeout: LIST_MS_MAX, cacheMode: 'refresh' }),
    );
    return tools.map(({ name, description = '', inputSchema, annotations }) => ({
      name,
      description,
      parameters: inputSchema,
      isRead: annotations?.readOnlyHint === true,
    }));
  }

  /** @throws {Error} as `tools`. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<McpAnswer> {
    const result = await this.#withClient(signal, async (client) =>
      client.callTool({ name, arguments: { ...args } }, { signal, timeout: CALL_MS_MAX }),
    );
    const { content, structuredContent } = result;
    const parts = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`));
    const isBare = parts.length === 0 && structuredContent !== undefined;
    const text = isBare ? JSON.stringify(structuredContent) : parts.join('\n');
    return { text, isError: result.isError === true };
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    // Where it never connected, there is nothing to close.
    await client?.then((one) => one.close()).catch(() => undefined);
  }

  /**
   * Requests of other calls may be under way in the session: one that fails ends none of them. A session that may be gone is only
   * forgotten, so that the next use begins another.
   */
  async #withClient<T>(signal: AbortSignal, use: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#connected();
    try {
      return await use(await client);
    } catch (error) {
      const isAnswered = error instanceof ProtocolError;
      if ((isAnswered || signal.aborted) && (await isOpen(client))) throw error;
      if (this.#client === client) this.#client = undefined;
      if (signal.aborted || !isSessionGone(error)) throw error;
      return use(await this.#connected());
    }
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { headers, url } = this.#server;
    const client = new Client(
      { name: 'offhook', version: this.#version },
      {
        versionNegotiation: { mode: 'auto' },
        // A server's answers are not checked against its own schemas: they are text for the model.
        jsonSchemaValidator: { getValidator: () => takeAll },
        listMaxPages: PAGES_MAX,
      },
    );
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: {
        headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      },
      fetch: this.#fetch,
      reconnectionOptions: {
        ...{ maxRetries: 0, initialReconnectionDelay: 1000, maxReconnectionDelay: 1000 },
        reconnectionDelayGrowFactor: 1,
      },
    });
    await client.connect(transport, { timeout: LIST_MS_MAX });
    return client;
  }
}

/** Whether connecting worked. */
function isOpen(client: Promise<Client>): Promise<boolean> {
  return client.then(
    () => true,
    () => false,
  );
}

function takeAll<T>(input: unknown): JsonSchemaValidatorResult<T> {
  return { valid: true, data: input as T, errorMessage: undefined };
}

function isSessionGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { status, code, data } = error as { status?: unknown; code?: unknown; data?: unknown };
  return [status, code, Object(data).status].includes(SESSION_GONE);
}

/** Time limit for connecting; a call of a tool has a limit for everything. */
const CONNECT_MS_MAX = 10_000;

/** Calls of one server's tools that run at one time; further ones wait within their limits of time. */
const CONNECTIONS_MAX = 16;

/** A longer answer breaks off: a list of a hundred tools has 100 kB. */
export const ANSWER_BYTES_MAX = 1_048_576;

/** A `fetch` with the interface of the Fetch API, over connections of its own. */
export interface McpFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Breaks every connection off. Safe to call twice. */
  close(): Promise<void>;
}

/** Makes the `fetch` that all MCP servers share. */
export function openMcpFetch(options: GuardOptions): McpFetch {
  const limits = { timeoutMs: CONNECT_MS_MAX, connections: CONNECTIONS_MAX };
  const agent = guardedAgent({ ...options, ...limits });
  return {
    fetch: async (url, init = {}) => {
      // GET opens the stream of a server's own messages, which are not used here. MCP, "Listening for messages".
      if (init.method === 'GET') return new Response(null, { status: 405 });
      const asked = { ...init, redirect: 'error', dispatcher: agent } as Parameters<
        typeof fetch
      >[1];
      return bounded((await fetch(url, asked)) as unknown as Response);
    },
    close: () => agent.destroy(),
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
