/** Types of the REST interface: dependencies, the caller of a request, its quota, and the Hono environment. */
import type { HttpBindings } from '@hono/node-server';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { Account, Environment, Plan } from '../domain/account/account.ts';
import type { ApiKey } from '../domain/account/api-key.ts';
import type { Eraser } from '../domain/account/erasure.ts';
import type { RateStore } from '../domain/account/rate-limit.ts';
import type { RequestLog } from '../domain/account/request-log.ts';
import type { OperatorKeys, User } from '../domain/account/user.ts';
import type { ChangedBy, Scope } from '../domain/agent/agent.ts';
import type { LanguageModels } from '../domain/agent/agent-rules.ts';
import type { AgentChat } from '../domain/agent/agent-version.ts';
import type { VoiceCatalogue } from '../domain/agent/voice-catalogue.ts';
import type { ReadinessReport } from '../domain/call/engine-state.ts';
import type { LiveCalls, LiveFeed, LiveSound } from '../domain/call/live-sound.ts';
import type { ReadPeaks } from '../domain/call/recording-link.ts';
import type { SipTraces } from '../domain/call/sip-trace.ts';
import type { NumberOwners } from '../domain/dialing/number-owner.ts';
import type { DialQueue } from '../domain/dialing/outbound-rules.ts';
import type { TrunkControl, Trunks } from '../domain/dialing/trunk.ts';
import type { NewId, RandomBytes } from '../domain/ids.ts';
import type { DocumentReader } from '../domain/knowledge/knowledge.ts';
import type { ModelDownloads } from '../domain/model-downloads.ts';
import { type ErrorCode, ServiceError } from '../domain/service-error.ts';
import type { RunTransaction, Stores } from '../domain/stores.ts';
import type { ToolTrial } from '../domain/tool/custom-tool.ts';
import type { McpTrial } from '../domain/tool/mcp-server.ts';
import type { IsTrustedProxy } from '../domain/trusted-proxies.ts';
import type { WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import type { ServerLog } from '../lib/server-log.ts';

/** Dependencies of the REST interface; the composition root assembles them once. */
export interface ApiDeps
  extends Omit<Stores, 'analyses' | 'sipTraces' | 'outbox' | 'dialogs' | 'secrets' | 'users'> {
  /** API keys of dashboard sessions; undefined without a dashboard. */
  readonly operatorKeys?: OperatorKeys | undefined;
  readonly chat: AgentChat;
  readonly documentReader: DocumentReader;
  readonly modelDownloads: ModelDownloads;
  readonly languageModels: LanguageModels;
  readonly toolTrial: ToolTrial;
  readonly mcpTrial: McpTrial;
  readonly numberOwners: NumberOwners;
  readonly trunks: Trunks;
  readonly trunkControl: TrunkControl;
  readonly callTraces: SipTraces;
  readonly eraser: Eraser;
  /** Which receivers the operator has opened besides public ones. */
  readonly webhookUrlRules: WebhookUrlRules;
  readonly transaction: RunTransaction;
  readonly liveCalls: LiveCalls;
  readonly liveFeed: LiveFeed;
  readonly liveSound: LiveSound;
  readonly readPeaks: ReadPeaks;
  readonly dialQueues: Readonly<Record<Environment, DialQueue>>;
  /** Plans whose keys may not start calls. */
  readonly plansWithoutOutbound: readonly Plan[];
  readonly rates: RateStore;
  readonly voices: VoiceCatalogue;
  /** Proxies whose X-Forwarded-For is trusted. Default: none. */
  readonly isTrustedProxy?: IsTrustedProxy;
  readonly metrics: Metrics;
  /** Asked at every `/readyz`; must be quick. */
  readonly readiness: () => Promise<ReadinessReport>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly requestLog: RequestLog;
  /** The newest warnings and errors of `log`. */
  readonly serverLog: ServerLog;
  readonly newId: NewId;
  /** Cryptographically secure: keys and secrets are made of it. */
  readonly random: RandomBytes;
  /** Base of links handed out, without a slash at its end. */
  readonly publicUrl: string;
  /** The folder that `Call.recordingFile` is relative to. */
  readonly dataFolder: string;
  /** Key of the links to recordings; at least 32 random characters. */
  readonly recordingSecret: string;
  /** Version of the server, such as `0.1.0`. */
  readonly version: string;
}

/** Who shows a valid key. */
export interface Caller {
  readonly apiKey: ApiKey;
  readonly account: Account;
  /** Whether the request comes from the dashboard, which has its own API key. */
  readonly isDashboard: boolean;
  /** Whose session the dashboard's key is of, with the role as it is now; undefined for keys of customers. */
  readonly user: User | undefined;
  readonly quota: Quota;
}

/** Rate-limit quota: the subject that requests are counted for, and its limit of requests an hour. */
export interface Quota {
  readonly subject: string;
  readonly limit: number;
}

/** Values that guards set for the routes behind them. */
export interface ApiVariables {
  requestId: string;
  /** Undefined when the request shows no valid key. */
  caller: Caller | undefined;
  /** Who asks with a session of the dashboard, or has just signed in. */
  user: User | undefined;
  /** Resource in the audit log, in place of the one that the path names; never a value that a client chose. */
  auditResource: string | undefined;
  /** Error code of the answer; undefined where it is no error. */
  errorCode: ErrorCode | undefined;
  /** Request body as text; empty until a guard has read it. */
  bodyText: string;
  /** `Retry-After` of a 503, in seconds. */
  retryAfterSeconds: number;
}

/** Environment of the Hono application. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: ApiVariables;
}

/** The Hono application that routes are added to. */
export type ApiApp = OpenAPIHono<ApiEnv>;

/** The Hono context of a request. */
export type ApiContext = Context<ApiEnv>;

/** Middleware that lets a request through or throws a `ServiceError`. */
export type Guard = MiddlewareHandler<ApiEnv>;

/**
 * The account and environment that a request speaks for.
 *
 * @throws {ServiceError} UNAUTHORIZED when it shows no valid key.
 */
export function scopeOf(context: ApiContext): Scope {
  const { accountId, environment } = callerOf(context).apiKey;
  return { accountId, environment };
}

/** @throws {ServiceError} UNAUTHORIZED when the request shows no valid key. */
export function callerOf(context: ApiContext): Caller {
  const caller = context.get('caller');
  if (caller === undefined) throw NO_KEY;
  return caller;
}

/** Created once: requests without a key may be frequent, and the stack trace is most of an error's cost. */
const NO_KEY = new ServiceError(
  'UNAUTHORIZED',
  'Cannot authenticate the request: the API key is missing, unknown or revoked',
);

/**
 * Source of a request, for the records of changes: dashboard or API.
 *
 * @throws {ServiceError} UNAUTHORIZED when it shows no valid key.
 */
export function changedBy(context: ApiContext): ChangedBy {
  return callerOf(context).isDashboard ? 'dashboard' : 'api';
}
