/** Custom tools: HTTP requests that a customer lets agents make during calls; their rules, and the contract of their store. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import { AGENT_TOOLS } from '../agent/agent-rules.ts';
import { emptyPatch, given, laterThan, type Unset } from '../ids.ts';
import type { NamedStore } from '../named-store.ts';
import { bodyFault, conflict, requireNoFaults } from '../service-error.ts';
import type { WebhookUrlRules } from '../webhook/webhook-url.ts';
import { schemaFault } from './argument-schema.ts';
import {
  checkToolUrl,
  type HeaderDraft,
  headersOf,
  placesOf,
  requireSecretHeadersAgain,
  type ToolHeader,
} from './tool-request.ts';

/** Methods of a tool's request. */
export const TOOL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One of `TOOL_METHODS`. */
export type ToolMethod = (typeof TOOL_METHODS)[number];

/** A tool that a customer has made: one HTTP request, described for the model. */
export interface CustomTool {
  readonly accountId: string;
  readonly environment: Environment;
  /** Unique in the account and environment. */
  readonly name: string;
  /** Description for the model: what it does and when to use it. */
  readonly description: string;
  /** JSON Schema of the arguments: see `argument-schema.ts`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly method: ToolMethod;
  /** With places such as `{orderId}`. */
  readonly url: string;
  readonly headers: readonly ToolHeader[];
  readonly timeoutMs: number;
  /** Phrase for the caller while it runs; null for the phrase of the agent's language. */
  readonly sayWhileWaiting: string | null;
  /** Which part of a JSON answer the model gets, such as `data.items.0.price`; null for all of it. */
  readonly resultPath: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Limits of the fields of a tool: lengths in characters, counts, durations in milliseconds. */
export const TOOL_LIMITS = {
  toolsMax: 100,
  descriptionCharsMax: 1000,
  headersMax: 20,
  headerNameCharsMax: 100,
  headerValueCharsMax: 4096,
  timeoutMs: { min: 500, max: 30_000 },
  sayWhileWaitingCharsMax: 300,
  resultPathCharsMax: 200,
} as const;

/** Names of custom tools. */
export const TOOL_NAME = /^[a-z][a-z0-9_]{0,62}$/;

const TIMEOUT_MS_DEFAULT = 10_000;

/** Keeps custom tools. */
export type CustomToolStore = NamedStore<CustomTool>;

type Optional = Unset<Pick<CustomTool, 'timeoutMs' | 'sayWhileWaiting' | 'resultPath'>> & {
  readonly headers?: readonly HeaderDraft[] | undefined;
};

type Required = Pick<CustomTool, 'description' | 'parameters' | 'method' | 'url'>;

/** A tool as customers describe it, of the right types and lengths. */
export type ToolDraft = Pick<CustomTool, 'name'> & Required & Optional;

/** A change: only the fields that are there. */
type ToolPatch = Unset<Required> & Optional;

/**
 * Makes a tool.
 *
 * @throws {ServiceError} VALIDATION_ERROR when its name, parameters, places or headers are wrong; UNPROCESSABLE when its
 *   host is refused; CONFLICT when the name is that of a built-in tool.
 */
export function createTool(
  draft: ToolDraft,
  facts: { readonly scope: Scope; readonly now: Date; readonly urlRules: WebhookUrlRules },
): CustomTool {
  const { scope, now, urlRules } = facts;
  if (isBuiltIn(draft.name)) {
    throw conflict(`Cannot make the tool "${draft.name}": that is the name of a built-in tool`);
  }
  const tool = {
    ...draft,
    accountId: scope.accountId,
    environment: scope.environment,
    headers: headersOf(draft.headers ?? [], []),
    timeoutMs: draft.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    sayWhileWaiting: draft.sayWhileWaiting ?? null,
    resultPath: draft.resultPath ?? null,
    createdAt: now,
    updatedAt: now,
  };
  checkTool(tool, urlRules);
  return tool;
}

/**
 * Changes the fields that the patch has. `headers` replaces all of them; a header without a value keeps the stored one,
 * unless the URL leads to another server.
 *
 * @throws {ServiceError} as `createTool`, and VALIDATION_ERROR when the patch is empty.
 */
export function patchTool(
  tool: CustomTool,
  patch: ToolPatch,
  { now, urlRules }: { readonly now: Date; readonly urlRules: WebhookUrlRules },
): CustomTool {
  const { headers, ...changes } = given(patch);
  if (headers === undefined && Object.keys(changes).length === 0) throw emptyPatch('the tool');
  const patched = {
    ...tool,
    ...changes,
    headers: headers === undefined ? tool.headers : headersOf(headers, tool.headers),
    updatedAt: laterThan(tool.updatedAt, now),
  };
  checkTool(patched, urlRules);
  requireSecretHeadersAgain(tool, { headers, url: patched.url });
  return patched;
}

/** Finds the ones that exist among the names: custom tools, or MCP servers. */
interface NamedTools {
  findAll(scope: Scope, names: readonly string[]): Promise<readonly { readonly name: string }[]>;
}

/**
 * Requires that every name is that of a built-in tool, or of a custom tool or an MCP server that exists.
 *
 * @throws {ServiceError} VALIDATION_ERROR with a detail for each unknown name.
 */
export async function requireKnownTools(
  names: readonly string[],
  scope: Scope,
  stores: readonly NamedTools[],
): Promise<void> {
  const custom = names.filter((name) => !isBuiltIn(name));
  if (custom.length === 0) return;
  const found = await Promise.all(stores.map((store) => store.findAll(scope, custom)));
  const known = new Set(found.flat().map(({ name }) => name));
  const faults = names.flatMap((name, index) => {
    if (isBuiltIn(name) || known.has(name)) return [];
    const message = `"${name}" does not exist; expected ${AGENT_TOOLS.join(', ')}, a tool of GET /api/tools or a server of GET /api/mcp-servers`;
    return [{ path: `tools.${index}`, message }];
  });
  requireNoFaults(faults);
}

/** Whether a built-in tool has the name. */
export function isBuiltIn(name: string): boolean {
  return (AGENT_TOOLS as readonly string[]).includes(name);
}

function checkTool(tool: CustomTool, urlRules: WebhookUrlRules): void {
  const fault = schemaFault(tool.parameters);
  if (fault !== undefined) throw bodyFault(fault.path, fault.message);
  checkToolUrl(tool.url, urlRules);
  const properties = Object(tool.parameters.properties ?? {});
  const required: readonly unknown[] = Object(tool.parameters.required ?? []);
  for (const place of placesOf(tool.url)) {
    const isKnown = Object.hasOwn(properties, place) && required.includes(place);
    if (isKnown) continue;
    const message = `the place {${place}} must be a required property of parameters`;
    throw bodyFault('url', message);
  }
}

/** Result of a trial. */
interface TrialOutcome {
  readonly isDone: boolean;
  /** Text that the model of a call would get. */
  readonly text: string;
  /** Why it was not done, for who made the tool; null where it was, or where the arguments are wrong. */
  readonly problem: string | null;
  readonly tookMs: number;
}

/** Runs tools for their makers. */
export interface ToolTrial {
  /**
   * Makes the tool's request, as a call would.
   *
   * @returns null while too many trials run.
   */
  run(
    tool: CustomTool,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<TrialOutcome | null>;
}
