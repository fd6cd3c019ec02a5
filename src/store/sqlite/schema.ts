/** The tables as Kysely knows them. */
import {
  DummyDriver,
  type Generated,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Account } from '../../domain/account/account.ts';
import type { ApiKey } from '../../domain/account/api-key.ts';
import type { AuditEntry } from '../../domain/account/audit-log.ts';
import type { ErasureRecord } from '../../domain/account/erasure.ts';
import type { IdempotentRequest, KeptAnswer } from '../../domain/account/rate-limit.ts';
import type { Invite, StoredUser } from '../../domain/account/user.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { AgentContent } from '../../domain/agent/agent-version.ts';
import type { CallSums } from '../../domain/analytics/analytics-details.ts';
import type { BookedAppointment } from '../../domain/calendar/appointment.ts';
import type { Calendar } from '../../domain/calendar/calendar.ts';
import type { AnalysisJob, Call, TimelineEntry, TranscriptEntry } from '../../domain/call/call.ts';
import type { CallQuality } from '../../domain/call/call-life.ts';
import type { OpenDialog } from '../../domain/call/open-dialog.ts';
import type { Campaign, Contact } from '../../domain/campaign/campaign.ts';
import type { NumberAssignment } from '../../domain/dialing/number-owner.ts';
import type { StoredTrunk } from '../../domain/dialing/trunk.ts';
import type { KnowledgeDocument, KnowledgeVersion } from '../../domain/knowledge/knowledge.ts';
import type { SmsGateway } from '../../domain/sms/sms-gateway.ts';
import type { SmsMessage } from '../../domain/sms/sms-message.ts';
import type { OptOut } from '../../domain/sms/sms-rules.ts';
import type { CustomTool } from '../../domain/tool/custom-tool.ts';
import type { McpServer } from '../../domain/tool/mcp-server.ts';
import type { ServiceEvent } from '../../domain/webhook/service-event.ts';
import type { DeliveryAttempt, WebhookDelivery } from '../../domain/webhook/webhook-delivery.ts';
import type { WebhookEndpoint } from '../../domain/webhook/webhook-endpoint.ts';
import type { RowOf } from './rows.ts';

/** A row of `accounts`. */
export type AccountRow = RowOf<Omit<Account, 'retention'> & Account['retention']>;

/** The key itself is stored as its hash only. */
export type ApiKeyRow = RowOf<ApiKey> & { readonly hash: string };

/** A row of `agents`, and of `agent_versions`. */
export type AgentRow = RowOf<Agent>;

/** The content of an agent after one change; `changed` is a JSON list of fields. */
export type AgentVersionRow = RowOf<AgentContent> & {
  readonly agent_id: string;
  readonly version: number;
  readonly at: number;
  readonly changed_by: string;
  readonly changed: string;
};

/** Unpublished changes of an agent; `changes` is JSON, as in a PATCH. */
export type AgentDraftRow = {
  readonly agent_id: string;
  readonly changes: string;
  readonly based_on_at: number;
  readonly changed_by: string;
  readonly updated_at: number;
};

/** A row of `calls`. */
export type CallRow = RowOf<Omit<Call, 'from' | 'to'>> & {
  readonly from_number: string;
  readonly to_number: string;
  /** Start of the call, or its request before the start: the key that lists sort and filter by. */
  readonly sort_at: number;
};

/** State that the outbox keeps of an endpoint, in addition to its record. */
interface EndpointState {
  /** Deliveries that failed for good since the last success. */
  readonly failures_in_row: number;
  /** When the first of them failed. */
  readonly failing_since: number | null;
  /** Null while it exists for customers. */
  readonly deleted_at: number | null;
  /** The newest attempt as JSON: `at`, `statusCode`, `error`; null before the first. */
  readonly last_attempt: string | null;
  /** The newest event at its making, given by a trigger. */
  readonly after_position: Generated<number>;
}

/** A row of `webhook_deliveries`. */
export type WebhookDeliveryRow = RowOf<Omit<WebhookDelivery, 'callId'>> & {
  /** Creation of the event: the key of resend ranges. */
  readonly event_at: number;
};

/** A row of the erasure log. */
export type ErasureRow = RowOf<ErasureRecord>;

/** One row an environment. */
export interface SigningSecretRow {
  readonly account_id: string;
  readonly environment: string;
  readonly secret: string;
  readonly created_at: number;
  readonly previous_secret: string | null;
  readonly rotated_at: number | null;
  readonly prepared_secret: string | null;
}

/** One utterance. `confidence` is from 0 to 1. */
export type TranscriptRow = RowOf<Omit<TranscriptEntry, 'confidence'>> & {
  readonly call_id: string;
  readonly confidence: number | null;
};

/** `messages` is a JSON list. */
export interface SipTraceRow {
  readonly call_id: string;
  readonly messages: string;
  readonly is_truncated: number;
  readonly kept_at: number;
}

/** The primary key is account, environment, method, path and key. */
type IdempotencyRow = RowOf<Omit<IdempotentRequest, 'now'> & KeptAnswer> & {
  readonly created_at: number;
};

/** Key of sums over the calls of one agent, or of all agents of an account. */
interface AgentKey {
  readonly agent_id: string;
  readonly account_id: string;
  readonly environment: string;
}

/** Sums over the calls of one UTC day with the same account, environment, agent, direction and status. */
export interface CallDayRow extends AgentKey {
  /** Days since 1970 of `CallRow.sort_at`. */
  readonly day: number;
  readonly direction: string;
  readonly status: string;
  readonly calls: number;
  /** Answered and over. */
  readonly answered: number;
  /** Over and never answered. */
  readonly missed: number;
  readonly billed_seconds: number;
  readonly sentiment_sum: number;
  readonly sentiment_count: number;
  /** Part of `calls` that was erased since: lists leave it out, analytics do not. */
  readonly erased: number;
}

/** Calls of one UTC day with one intent. */
export interface IntentDayRow extends AgentKey {
  readonly day: number;
  readonly intent: string;
  readonly calls: number;
}

/** Key of sums over the calls of one quarter hour. */
interface QuarterHourKey extends AgentKey {
  /** Quarter hours since 1970 of `CallRow.sort_at`. */
  readonly quarter_hour: number;
}

/** Calls of one quarter hour, added up. */
export interface QuarterHourRow extends Omit<CallSums, 'billedSeconds'>, QuarterHourKey {
  readonly billed_seconds: number;
}

/** Times to answer of the calls of one quarter hour. */
export interface AnswerTimesRow extends QuarterHourKey {
  /** `AnswerCounts`. */
  readonly turns: Uint8Array;
  /** `EngineCounts`; null in rows of before they were counted. */
  readonly recognition: Uint8Array | null;
  readonly model: Uint8Array | null;
  readonly voice: Uint8Array | null;
}

/** Costs of the calls of one quarter hour in one currency, added up. */
export interface CallCostRow extends QuarterHourKey {
  readonly currency: string;
  readonly calls: number;
  readonly micros: number;
}

/** Tombstone of an erased call. */
export interface ErasedCallRow extends NotedErasureRow, AgentKey {
  readonly started_at: number | null;
  readonly duration_seconds: number;
  readonly erased_at: number;
}

/** A call to erase once it is over. */
export interface NotedErasureRow {
  readonly call_id: string;
  readonly erasure_id: string;
}

/** Work on the disk that an erasure left. */
export interface LeftoverRow {
  /** `file`: a recording to delete. `pages`: the database file is to be rewritten. */
  readonly kind: 'file' | 'pages';
  /** Path of a file; of pages, `asked` or `expired`. */
  readonly name: string;
}

/** All tables by name. */
export interface Tables {
  accounts: AccountRow;
  signing_secrets: SigningSecretRow;
  api_keys: ApiKeyRow;
  agents: AgentRow;
  agent_versions: AgentVersionRow;
  agent_drafts: AgentDraftRow;
  custom_tools: RowOf<CustomTool>;
  mcp_servers: RowOf<McpServer>;
  knowledge_documents: RowOf<KnowledgeDocument>;
  knowledge_versions: RowOf<KnowledgeVersion> & {
    readonly document_id: string;
    readonly text: string;
  };
  /** Passages of newest versions. Triggers keep `knowledge_index`, their full text index. */
  knowledge_passages: {
    readonly id: Generated<number>;
    readonly document_id: string;
    readonly agent_id: string;
    readonly number: number;
    readonly heading: string;
    readonly text: string;
  };
  knowledge_vectors: {
    readonly passage_id: number;
    readonly model: string;
    readonly vector: Uint8Array;
  };
  sms_gateways: RowOf<SmsGateway>;
  sms_messages: RowOf<SmsMessage>;
  sms_opt_outs: RowOf<OptOut> & { readonly account_id: string; readonly environment: string };
  calendars: RowOf<Calendar>;
  appointments: RowOf<BookedAppointment>;
  campaigns: RowOf<Campaign>;
  campaign_contacts: RowOf<Contact>;
  number_assignments: RowOf<NumberAssignment>;
  trunks: RowOf<StoredTrunk>;
  /** `words_erased` is 1 once transcript and summary are gone. */
  calls: CallRow & { readonly words_erased: Generated<number> };
  /** `position` is given by the database, in the order of saying. */
  transcript_entries: TranscriptRow & { readonly position: Generated<number> };
  call_notes: { readonly call_id: string; readonly note: string | null };
  call_documents: { readonly call_id: string; readonly owner: string; readonly words: string };
  call_documents_due: { readonly call_id: string };
  call_tags: { readonly tag: string; readonly call_id: string };
  timeline_entries: RowOf<TimelineEntry> & {
    readonly call_id: string;
    readonly position: Generated<number>;
  };
  sip_traces: SipTraceRow;
  /** The outbox; `position` is the order of writing. */
  events: RowOf<ServiceEvent> & { readonly position: Generated<number> };
  call_days: CallDayRow;
  intent_days: IntentDayRow;
  quarter_hours: QuarterHourRow;
  answer_times: AnswerTimesRow;
  call_costs: CallCostRow;
  /** A call that waits for its analysis. */
  analysis_jobs: RowOf<AnalysisJob> & { readonly environment: string; readonly due_at: number };
  idempotency_keys: IdempotencyRow;
  webhook_endpoints: RowOf<WebhookEndpoint> & EndpointState;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: RowOf<DeliveryAttempt> & {
    readonly delivery_id: string;
    readonly position: Generated<number>;
  };
  /** Kept by triggers. */
  delivery_counts: {
    readonly endpoint_id: string;
    readonly status: string;
    readonly deliveries: number;
  };
  /** How far a reader of the outbox has come. */
  outbox_cursors: { readonly name: string; readonly position: number };
  open_dialogs: RowOf<OpenDialog>;
  call_qualities: RowOf<CallQuality> & { readonly call_id: string };
  /** Requests of one subject in one window. */
  rate_counts: {
    readonly subject: string;
    readonly window_start: number;
    readonly requests: number;
  };
  /** Secrets of the server itself. */
  secrets: { readonly name: string; readonly value: string };
  users: RowOf<StoredUser>;
  invites: RowOf<Invite> & { readonly hash: string };
  /** `position` is the order of writing. */
  audit_log: RowOf<AuditEntry> & { readonly position: Generated<number> };
  erasures: ErasureRow;
  erased_calls: ErasedCallRow;
  noted_erasures: NotedErasureRow;
  erasure_leftovers: LeftoverRow;
  probes: { readonly id: number; readonly probed_at: number };
}

/** Builds SQL; `Queries` runs it. */
export const build = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** The instant of a column; null for null. */
export function dateOf(unixMs: number | null | undefined): Date | null {
  return unixMs === null || unixMs === undefined ? null : new Date(unixMs);
}
