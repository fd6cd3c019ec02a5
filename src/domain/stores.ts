/** The store contracts that one transaction can span. */
import type { AccountStore } from './account/account-rules.ts';
import type { ApiKeyStore } from './account/api-key.ts';
import type { AuditLog } from './account/audit-log.ts';
import type { SecretStore } from './account/bootstrap.ts';
import type { ErasureStore } from './account/erasure.ts';
import type { IdempotencyStore } from './account/rate-limit.ts';
import type { UserStore } from './account/user.ts';
import type { AgentStore } from './agent/agent.ts';
import type { AgentVersionStore, SavedDraftStore } from './agent/agent-version.ts';
import type { QuarterHours } from './analytics/analytics-details.ts';
import type { AnalyticsStore } from './analytics/analytics-report.ts';
import type { AppointmentStore } from './calendar/appointment.ts';
import type { CalendarStore } from './calendar/calendar.ts';
import type { AnalysisStore, CallNoteStore, CallStore } from './call/call.ts';
import type { CallQualityStore } from './call/call-life.ts';
import type { DialogStore } from './call/open-dialog.ts';
import type { SipTraceStore } from './call/sip-trace.ts';
import type { CampaignStore } from './campaign/campaign.ts';
import type { NumberAssignments } from './dialing/number-owner.ts';
import type { NumberHolders } from './dialing/phone-number.ts';
import type { StoredTrunks } from './dialing/trunk.ts';
import type { KnowledgeStore } from './knowledge/knowledge.ts';
import type { SmsGatewayStore } from './sms/sms-gateway.ts';
import type { SmsMessageStore } from './sms/sms-message.ts';
import type { OptOutStore } from './sms/sms-rules.ts';
import type { CustomToolStore } from './tool/custom-tool.ts';
import type { McpServerStore } from './tool/mcp-server.ts';
import type { EventStore } from './webhook/service-event.ts';
import type { DeliveryStore, Outbox } from './webhook/webhook-delivery.ts';
import type { WebhookEndpointStore } from './webhook/webhook-endpoint.ts';

/** Stores of the server, or of one transaction. */
export interface Stores {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly agents: AgentStore;
  readonly agentVersions: AgentVersionStore;
  readonly agentDrafts: SavedDraftStore;
  readonly customTools: CustomToolStore;
  readonly mcpServers: McpServerStore;
  readonly knowledge: KnowledgeStore;
  readonly smsGateways: SmsGatewayStore;
  readonly smsMessages: SmsMessageStore;
  readonly smsOptOuts: OptOutStore;
  readonly calendars: CalendarStore;
  readonly appointments: AppointmentStore;
  readonly numberHolders: NumberHolders;
  readonly numberAssignments: NumberAssignments;
  readonly storedTrunks: StoredTrunks;
  readonly calls: CallStore;
  readonly campaigns: CampaignStore;
  readonly callNotes: CallNoteStore;
  readonly qualities: CallQualityStore;
  readonly analyses: AnalysisStore;
  readonly sipTraces: SipTraceStore;
  readonly analytics: AnalyticsStore;
  readonly quarterHours: QuarterHours;
  readonly events: EventStore;
  readonly webhookEndpoints: WebhookEndpointStore;
  readonly deliveries: DeliveryStore;
  readonly outbox: Outbox;
  readonly dialogs: DialogStore;
  readonly idempotency: IdempotencyStore;
  readonly erasures: ErasureStore;
  readonly secrets: SecretStore;
  readonly users: UserStore;
  readonly auditLog: AuditLog;
}

/**
 * Runs reads and writes as one transaction; an error rolls it back.
 *
 * @param work Uses the stores that it is given and awaits nothing else: the server's own stores wait for its end.
 */
export type RunTransaction = <Result>(work: (stores: Stores) => Promise<Result>) => Promise<Result>;
