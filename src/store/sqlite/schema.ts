/** The tables as Kysely knows them. Instants are Unix milliseconds, objects and lists are JSON text. */
import {
  DummyDriver,
  type Generated,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
/** `transfer_targets` and `allowed_countries` are JSON; retention of null days has no limit. */
export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly minutes_included: number;
  readonly transfer_targets: string;
  readonly allowed_countries: string | null;
  readonly recordings_days: number | null;
  readonly transcripts_days: number | null;
  readonly calls_days: number | null;
  readonly created_at: number;
}

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

/** `scopes` is JSON; the key itself is stored as its hash only. */
export interface ApiKeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly name: string;
  readonly hash: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

/** `tools` and `settings` are JSON. */
export interface AgentRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly name: string;
  readonly greeting: string;
  readonly system_prompt: string;
  readonly voice: string;
  readonly language: string;
  readonly phone_number: string | null;
  readonly tools: string;
  readonly settings: string;
  readonly status: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The content of an agent after one change; `changed` is a JSON list of fields. */
export interface AgentVersionRow
  extends Omit<AgentRow, 'id' | 'account_id' | 'environment' | 'created_at' | 'updated_at'> {
  readonly agent_id: string;
  readonly version: number;
  readonly at: number;
  readonly changed_by: string;
  readonly changed: string;
}

/** The account that a telephone number is assigned to. */
export interface NumberAssignmentRow {
  readonly number: string;
  readonly account_id: string;
  readonly assigned_at: number;
  readonly assigned_by: string;
}

/** `metadata` and `overrides` are JSON. */
export interface CallRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
  readonly direction: string;
  readonly status: string;
  readonly from_number: string;
  readonly to_number: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly answered_at: number | null;
  readonly ended_at: number | null;
  readonly end_reason: string | null;
  readonly failure_reason: string | null;
  readonly sip_status: number | null;
  readonly expires_at: number | null;
  readonly duration_seconds: number;
  readonly carrier_call_sid: string | null;
  readonly recording_file: string | null;
  readonly recording_truncated: number;
  readonly summary: string | null;
  readonly sentiment: string | null;
  readonly sentiment_score: number | null;
  readonly intent_detected: string | null;
  readonly metadata: string;
  readonly overrides: string;
  readonly scenario: string | null;
  /** Start of the call, or its request before the start: the key that lists sort and filter by. */
  readonly sort_at: number;
}

/** One utterance. `confidence` is from 0 to 1. */
export interface TranscriptRow {
  readonly call_id: string;
  readonly role: string;
  readonly text: string;
  readonly at: number;
  readonly confidence: number | null;
}

/** `details` is JSON. */
export interface TimelineRow {
  readonly call_id: string;
  readonly at: number;
  readonly kind: string;
  readonly details: string;
}

/** `messages` is a JSON list. */
export interface SipTraceRow {
  readonly call_id: string;
  readonly messages: string;
  readonly is_truncated: number;
  readonly kept_at: number;
}

/** `body` is the webhook body, byte for byte. */
export interface EventRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly kind: string;
  readonly call_id: string | null;
  readonly created_at: number;
  readonly body: string;
}

/** The primary key is account, environment, method, path and key. */
export interface IdempotencyRow {
  readonly account_id: string;
  readonly environment: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string | null;
  readonly created_at: number;
}

/** Requests of one subject in one window. */
interface RateCountRow {
  readonly subject: string;
  readonly window_start: number;
  readonly requests: number;
}

/** A secret of the server itself. */
interface SecretRow {
  readonly name: string;
  readonly value: string;
}

/** One SIP dialog, answered or not yet. */
export interface OpenDialogRow {
  readonly id: string;
  readonly sip_call_id: string;
  readonly local_party: string;
  readonly remote_party: string;
  readonly remote_target: string;
  /** JSON: a list of text. */
  readonly routes: string;
  readonly sequence: number;
  /** JSON: a list of text. */
  readonly channels: string;
  readonly opened_at: number;
  /** JSON: an `OpenInvite`; null once it is answered. */
  readonly invite: string | null;
}

/** RTP quality of one call. */
interface CallQualityRow {
  readonly call_id: string;
  readonly codec: string;
  /** JSON. */
  readonly local: string;
  /** JSON. */
  readonly remote: string | null;
  readonly mos: number | null;
}

/** Calls of one UTC day that agree in everything that lists and analytics ask for, added up. */
export interface CallDayRow {
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
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
  /** Of `calls`, those that were erased since: lists leave them out, analytics do not. */
  readonly erased: number;
}

/** Calls of one UTC day with one intent. */
export interface IntentDayRow {
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
  readonly day: number;
  readonly intent: string;
  readonly calls: number;
}

/** A call that waits for its analysis. */
interface AnalysisJobRow {
  readonly call_id: string;
  readonly environment: string;
  readonly attempts: number;
  readonly ended_at: number;
  readonly due_at: number;
}

/** `events` is a JSON list of kinds. */
export interface WebhookEndpointRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly url: string;
  readonly events: string;
  readonly description: string;
  readonly status: string;
  readonly disabled_reason: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** Deliveries that failed for good since the last success. */
  readonly failures_in_row: number;
  /** When the first of them failed. */
  readonly failing_since: number | null;
  /** Null while it exists for customers. */
  readonly deleted_at: number | null;
}

/** One event for one endpoint. */
export interface WebhookDeliveryRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_kind: string;
  /** Creation of the event: the key of resend ranges. */
  readonly event_at: number;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: number | null;
  readonly last_status_code: number | null;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

/** One attempt of a delivery. */
export interface WebhookAttemptRow {
  readonly delivery_id: string;
  readonly attempt: number;
  readonly at: number;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response_text: string | null;
}

/** How far a reader of the outbox has come. */
interface OutboxCursorRow {
  readonly name: string;
  readonly position: number;
}

/** One request to erase, with the numbers of erased records. */
export interface ErasureRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string | null;
  readonly kind: string;
  readonly asked_by: string;
  readonly asked_at: number;
  readonly calls: number;
  readonly recordings: number;
  readonly transcripts: number;
  readonly finished_at: number | null;
}

/** Tombstone of an erased call. */
export interface ErasedCallRow {
  readonly call_id: string;
  readonly erasure_id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly agent_id: string;
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
  /** Of pages: `asked` or `expired`. */
  readonly name: string;
}

/** All tables by name. */
export interface Tables {
  accounts: AccountRow;
  signing_secrets: SigningSecretRow;
  api_keys: ApiKeyRow;
  agents: AgentRow;
  agent_versions: AgentVersionRow;
  number_assignments: NumberAssignmentRow;
  /** `words_erased` is 1 once transcript and summary are gone. */
  calls: CallRow & { readonly words_erased: Generated<number> };
  /** `position` is given by the database, in the order of saying. */
  transcript_entries: TranscriptRow & { readonly position: Generated<number> };
  timeline_entries: TimelineRow & { readonly position: Generated<number> };
  sip_traces: SipTraceRow;
  /** The outbox; `position` is the order of writing. */
  events: EventRow & { readonly position: Generated<number> };
  call_days: CallDayRow;
  intent_days: IntentDayRow;
  analysis_jobs: AnalysisJobRow;
  idempotency_keys: IdempotencyRow;
  /** `after_position` is the newest event at its making, given by a trigger. */
  webhook_endpoints: WebhookEndpointRow & { readonly after_position: Generated<number> };
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow & { readonly position: Generated<number> };
  /** Kept by triggers. */
  delivery_counts: {
    readonly endpoint_id: string;
    readonly status: string;
    readonly deliveries: number;
  };
  outbox_cursors: OutboxCursorRow;
  open_dialogs: OpenDialogRow;
  call_qualities: CallQualityRow;
  rate_counts: RateCountRow;
  secrets: SecretRow;
  erasures: ErasureRow;
  erased_calls: ErasedCallRow;
  noted_erasures: NotedErasureRow;
  erasure_leftovers: LeftoverRow;
  probes: { readonly id: number; readonly probed_at: number };
}

/** Builds SQL and does not run it: that is what `Queries` is for. */
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
