/** MCP servers whose tools a customer's agents may use: their rules, and the contract of their store. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import { emptyPatch, given, laterThan, type Unset } from '../ids.ts';
import type { NamedStore } from '../named-store.ts';
import { conflict } from '../service-error.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../webhook/webhook-url.ts';
import { isBuiltIn } from './custom-tool.ts';
import {
  type HeaderDraft,
  headersOf,
  requireSecretHeadersAgain,
  type ToolHeader,
} from './tool-request.ts';

/** A server that speaks MCP by streamable HTTP. @see https://modelcontextprotocol.io/specification */
export interface McpServer {
  readonly accountId: string;
  readonly environment: Environment;
  /** Unique among the account's and environment's custom tools and servers; agents list it in `tools`. */
  readonly name: string;
  readonly url: string;
  readonly headers: readonly ToolHeader[];
  /** Names of its tools that agents get, as the server has them. */
  readonly allowedTools: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Limits of the fields of a server: lengths in characters, and counts. */
export const MCP_LIMITS = { serversMax: 20, allowedToolsMax: 32, toolNameCharsMax: 128 } as const;

/** Names of servers: short enough to stand before the names of their tools. */
export const MCP_SERVER_NAME = /^[a-z][a-z0-9_]{0,30}$/;

/** Keeps MCP servers. */
export interface McpServerStore extends NamedStore<McpServer> {
  /** Lists servers of all accounts, the last changed first. */
  newest(limit: number): Promise<readonly McpServer[]>;
}

type Optional = Unset<{ readonly headers: readonly HeaderDraft[] }>;

type Required = Pick<McpServer, 'url' | 'allowedTools'>;

/** A server as customers describe it, of the right types and lengths. */
export type McpServerDraft = Pick<McpServer, 'name'> & Required & Optional;

/** A change: only the fields that are there. */
export type McpServerPatch = Unset<Required> & Optional;

/** Makes the record. @throws {ServiceError} as `createTool`. */
export function createMcpServer(
  draft: McpServerDraft,
  facts: { readonly scope: Scope; readonly now: Date; readonly urlRules: WebhookUrlRules },
): McpServer {
  const { scope, now, urlRules } = facts;
  const { name, url, allowedTools } = draft;
  if (isBuiltIn(name)) {
    throw conflict(`Cannot make the MCP server "${name}": that is the name of a built-in tool`);
  }
  checkWebhookUrl(url, urlRules);
  return {
    ...{ accountId: scope.accountId, environment: scope.environment, name, url, allowedTools },
    headers: headersOf(draft.headers ?? [], []),
    createdAt: now,
    updatedAt: now,
  };
}

/** Changes the fields that the patch has. @throws {ServiceError} as `patchTool`. */
export function patchMcpServer(
  server: McpServer,
  patch: McpServerPatch,
  { now, urlRules }: { readonly now: Date; readonly urlRules: WebhookUrlRules },
): McpServer {
  const { headers, ...changes } = given(patch);
  if (headers === undefined && Object.keys(changes).length === 0)
    throw emptyPatch('the MCP server');
  const patched = {
    ...server,
    ...changes,
    headers: headers === undefined ? server.headers : headersOf(headers, server.headers),
    updatedAt: laterThan(server.updatedAt, now),
  };
  checkWebhookUrl(patched.url, urlRules);
  requireSecretHeadersAgain(server, { headers, url: patched.url });
  return patched;
}

/** Result of a server's trial. */
export interface McpTrialOutcome {
  /** Tools of the server; empty where it could not be reached. */
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** Why it could not be used; null where it could. */
  readonly problem: string | null;
  readonly tookMs: number;
}

/** Uses servers without a call. */
export interface McpTrial {
  /** Reads the tools of a server ahead of the next call; whether it answers shows there. */
  prepare(server: McpServer): void;

  /** @returns null while too many trials run. */
  run(server: McpServer, signal: AbortSignal): Promise<McpTrialOutcome | null>;
}
