/** Types of the server's answers. The types of `/api` are written from its OpenAPI document: `npm run types`. */
import type { components } from '#api';

type Schemas = components['schemas'];

export type Environment = 'live' | 'test';

/** Each role includes those before it. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;

export type Role = (typeof ROLES)[number];

export interface Session {
  readonly user: { readonly id: string; readonly name: string; readonly role: Role };
  readonly csrfToken: string;
  readonly accounts: readonly {
    readonly id: string;
    readonly name: string;
    readonly plan: string;
  }[];
  readonly isSetUp: boolean;
}

/** A user of the dashboard. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: string;
  readonly lastSignInAt: string | null;
  readonly disabledAt: string | null;
}

/** An invite whose link still works. */
export interface Invite {
  readonly id: string;
  readonly role: Role;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface UserList {
  readonly users: readonly User[];
  readonly invites: readonly Invite[];
}

/** The self-test of the installed models. */
export interface SelfTest {
  readonly state: 'never' | 'running' | 'passed' | 'failed';
  readonly startedAt: string | null;
  /** Report of the newest run that has ended. */
  readonly report: string | null;
}

export interface Paged<Item> {
  readonly data: readonly Item[];
  readonly total: number;
}

export type CallItem = Schemas['CallItem'];
export type CallPage = Schemas['CallPage'];
export type CallDetail = Schemas['Call'];
export type TranscriptEntry = Schemas['TranscriptEntry'];
export type TimelineEntry = Schemas['TimelineEntry'];
export type RecordingPeaks = Schemas['RecordingPeaks'];
export type SipLog = Schemas['SipLadder'];
export type SipMessage = SipLog['messages'][number];
export type CallQuality = Schemas['CallQuality'];

/** Fields that the list, the detail and the live view share. */
export type CallCommon = Omit<CallItem, 'tags' | 'hasTranscript' | 'hasRecording'>;

export type Campaign = Schemas['Campaign'];
export type CampaignContact = Schemas['CampaignContact'];

export type AgentItem = Schemas['AgentItem'];
export type Agent = Schemas['Agent'];
export type SavedDraft = Schemas['AgentDraft'];
/** Fields of an agent that a version keeps. */
export type AgentContent = Schemas['AgentContent'];
export type AgentVersion = Schemas['AgentVersion'];
export type Responsiveness = AgentContent['responsiveness'];
export type TransferTarget = AgentContent['settings']['transferTargets'][number];
export type LanguageModels = Schemas['LanguageModels'];
export type Voice = Schemas['Voice'];
export type ChatMessage = Schemas['AgentChat']['messages'][number];
export type ChatAnswer = Schemas['AgentChatReply'];
export type ChatToolCall = ChatAnswer['toolCalls'][number];

export type HttpTool = Schemas['Tool'];
export type TrunkCheck = Schemas['TrunkCheck'];
export type TrunkCheckProgress = Schemas['TrunkCheckProgressEvent']['data'];
export type TrunkCheckFailure = Schemas['TrunkCheckFailedEvent']['data'];
export type ToolTrial = Schemas['ToolTrial'];
export type McpServer = Schemas['McpServer'];
export type McpTrial = Schemas['McpTrial'];

export type Calendar = Schemas['Calendar'];
export type Appointment = Schemas['CalendarAppointment'];

export type SmsGateway = Schemas['SmsGateway'];
export type SmsOptOut = Schemas['SmsOptOut'];

export type KnowledgeDocument = Schemas['KnowledgeDocument'];
export type KnowledgeText = Schemas['KnowledgeText'];

export type Endpoint = Schemas['WebhookEndpoint'];
export type Delivery = Schemas['WebhookDelivery'];
export type DeliveryDetail = Schemas['WebhookDeliveryDetail'];
export type LedgerEvent = Schemas['Event'];
export type SigningSecret = Schemas['SigningSecret'];

export type ApiKey = Schemas['Key'];
export type AuditEntry = Schemas['AuditEntry'];
export type RequestEntry = Schemas['RequestLogEntry'];
export type RequestLogPage = Schemas['RequestLogPage'];
export type ServerLogEntry = Schemas['ServerLogEntry'];
export type ServerLogPage = Schemas['ServerLogPage'];
export type ModelCatalogue = Schemas['ModelCatalogue'];
export type Model = Schemas['Model'];
export type ModelDownload = Schemas['ModelDownload'];
export type Analytics = Schemas['Analytics'];
export type AnalyticsDetails = Schemas['AnalyticsDetails'];
export type Account = Schemas['Account'];
export type Trunk = Schemas['Trunk'];
export type PhoneNumber = Schemas['PhoneNumber'];

/** An engine as `/readyz` shows it: docs/operations.md, "Engines". */
export interface Engine {
  readonly job: 'vad' | 'stt' | 'turn' | 'tts' | 'llm';
  readonly engine: string;
  readonly reason: string;
  readonly state: 'ready' | 'degraded' | 'failed';
  readonly standIn:
    | 'tiny_model'
    | 'no_model'
    | 'simple_voice'
    | 'rule_book'
    | 'second_choice'
    | null;
  readonly limitation: string | null;
  readonly replacement: { readonly engine: string; readonly how: string } | null;
}

export interface Readiness {
  readonly status: 'ready' | 'draining' | 'not_ready';
  readonly engines: readonly Engine[];
  readonly carriers: readonly {
    readonly name: string;
    readonly isReady: boolean;
    readonly state: string;
  }[];
  readonly checks: readonly {
    readonly name: string;
    readonly isOk: boolean;
    readonly state: string;
  }[];
}
