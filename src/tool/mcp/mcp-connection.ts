/** One MCP server: connects when it is first needed, lists its tools, calls them, and connects again after a failure. */
import {
  Client,
  type JsonSchemaValidatorResult,
  ProtocolError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { McpServer } from '../../domain/tool/mcp-server.ts';
import type { McpFetch } from './mcp-fetch.ts';

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the server says that it changes nothing. */
  readonly isRead: boolean;
}

/** What a tool answered. */
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

export class McpConnection {
  readonly #server: McpServer;
  readonly #fetch: McpFetch['fetch'];
  readonly #version: string;
  #client: Promise<Client> | undefined;

  constructor(options: {
    readonly server: McpServer;
    readonly fetch: McpFetch['fetch'];
    /** Of this program. */
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
        // What a server says of its own answers is not checked: they are text for the model.
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
