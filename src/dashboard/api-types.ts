/** What the server's answers look like, as far as the pages read them; pure */

export type Environment = 'live' | 'test';

export interface Session {
  readonly csrfToken: string;
  readonly accounts: readonly {
    readonly id: string;
    readonly name: string;
    readonly plan: string;
  }[];
  readonly isSetUp: boolean;
}

/** The self-test of the installed models. */
export interface SelfTest {
  readonly state: 'never' | 'running' | 'passed' | 'failed';
  readonly startedAt: string | null;
  /** Of the newest run that has ended. */
  readonly report: string | null;
}

export interface Paged<Item> {
  readonly data: readonly Item[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export type CallStatus = 'queued' | 'ringing' | 'in_progress' | 'completed' | 'failed';

export interface TranscriptEntry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
  readonly confidence?: number;
}

/** What the list, the detail and the live view share. */
export interface CallCommon {
  readonly id: string;
  readonly agentId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly status: CallStatus;
  readonly from: string;
  readonly to: string;
  readonly durationSeconds: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly answeredAt: string | null;
  readonly endReason: string | null;
  readonly failureReason: string | null;
  readonly sipStatus: number | null;
  readonly sentiment: 'positive' | 'neutral' | 'negative' | null;
  readonly intentDetected: string | null;
}

export interface CallItem extends CallCommon {
  readonly hasTranscript: boolean;
  readonly hasRecording: boolean;
}

export interface CallDetail extends CallCommon {
  readonly transcript?: readonly TranscriptEntry[];
  readonly summary: string | null;
  readonly recordingUrl: string | null;
  readonly recordingTruncated: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface TimelineEntry {
  readonly timestamp: string;
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface TransferTarget {
  readonly label: string;
  readonly number: string;
}

export interface AgentItem {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'paused';
  readonly voice: string;
  readonly language: string;
  readonly phoneNumber: string | null;
  readonly totalCallsToday: number;
  readonly totalMinutesToday: number;
}

/** How soon a pause counts as the end of the caller's turn. */
export type Responsiveness = 'fast' | 'balanced' | 'patient';

export interface Agent extends AgentItem {
  readonly greeting: string;
  readonly systemPrompt: string;
  readonly updatedAt: string;
  readonly tools: readonly string[];
  readonly responsiveness: Responsiveness;
  readonly settings: {
    readonly maxDurationSeconds: number;
    readonly silenceTimeoutSeconds: number;
    readonly interruptible: boolean;
    readonly transferTargets: readonly TransferTarget[];
    readonly pronunciations: readonly { readonly written: string; readonly spoken: string }[];
  };
}

export interface Voice {
  readonly id: string;
  readonly locale: string;
  readonly name: string;
  readonly gender: 'female' | 'male';
  readonly engine: string;
  readonly isFallback: boolean;
}

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string;
  readonly status: 'active' | 'disabled';
  readonly disabledReason: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly event: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly createdAt: string;
}

export interface DeliveryDetail extends Delivery {
  readonly attemptDetails: readonly {
    readonly attempt: number;
    readonly timestamp: string;
    readonly durationMs: number;
    readonly statusCode: number | null;
    readonly error: string | null;
    readonly responseText: string | null;
  }[];
}

export interface LedgerEvent {
  readonly event: string;
  readonly id: string;
  readonly createdAt: string;
}

export interface SigningSecret {
  readonly signingSecret: string | null;
  readonly preparedSecret: string | null;
  readonly previousSecret: string | null;
  readonly previousValidUntil: string | null;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly environment: Environment;
  readonly prefix: string;
  readonly lastFour: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

export interface Analytics {
  readonly summary: {
    readonly totalCalls: number;
    readonly totalMinutes: number;
    readonly inboundCalls: number;
    readonly outboundCalls: number;
    readonly completedCalls: number;
    readonly missedCalls: number;
    readonly averageDurationSeconds: number;
    readonly averageSentimentScore: number;
  };
  readonly minutesUsed: number;
  readonly minutesIncluded: number;
  readonly dailyBreakdown: readonly {
    readonly date: string;
    readonly calls: number;
    readonly minutes: number;
    readonly averageDuration: number;
  }[];
  readonly topIntents: readonly {
    readonly intent: string;
    readonly count: number;
    readonly percentage: number;
  }[];
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly minutesIncluded: number;
  readonly minutesUsed: number;
  readonly transferTargets: readonly TransferTarget[];
  readonly allowedCountries: readonly string[] | null;
}

/** An engine as `/readyz` shows it: docs/operations.md, "Engines". */
export interface Engine {
  readonly job: 'vad' | 'stt' | 'turn' | 'tts' | 'llm';
  readonly engine: string;
  readonly reason: string;
  readonly isFallback: boolean;
  readonly state: 'ready' | 'fallback' | 'failed';
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

/** What a version keeps of an agent. */
export type AgentContent = Pick<
  Agent,
  | 'name'
  | 'greeting'
  | 'systemPrompt'
  | 'voice'
  | 'language'
  | 'phoneNumber'
  | 'tools'
  | 'responsiveness'
  | 'settings'
  | 'status'
>;

export interface AgentVersion {
  readonly version: number;
  readonly at: string;
  readonly by: 'api' | 'dashboard';
  /** Names of fields such as `greeting` or `settings.interruptible`; none for the first version. */
  readonly changed: readonly string[];
  readonly agent: AgentContent;
}

export interface ChatMessage {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

/** A tool that the agent would have used on a call. */
export interface ChatToolCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly ran: false;
}

export interface ChatAnswer {
  readonly reply: string;
  readonly toolCalls: readonly ChatToolCall[];
  readonly model: string;
  /** False where fixed rules answered: the agent's instructions counted for nothing. */
  readonly promptUsed: boolean;
  readonly tookMs: number;
}

/** Values from 0 to 1, of equally long pieces of the recording. */
export interface RecordingPeaks {
  readonly durationMs: number;
  readonly peaks: { readonly caller: readonly number[]; readonly agent: readonly number[] };
}

export interface SipMessage {
  readonly at: string;
  /** As seen from the server. */
  readonly direction: 'in' | 'out';
  readonly transport: string;
  readonly from: string;
  readonly to: string;
  readonly startLine: string;
  readonly cseq: string;
  readonly body: string | null;
  readonly text: string;
}

export interface SipLog {
  readonly messages: readonly SipMessage[];
  readonly truncated: boolean;
  readonly source: string;
  /** Why there is nothing, and where to look. */
  readonly note: string | null;
}

export interface Trunk {
  readonly name: string;
  readonly proxy: string;
  readonly transport: string;
  readonly state: string;
  readonly detail: string;
  readonly expiresAt: string | null;
  readonly numbers: readonly string[];
  readonly codecs: readonly string[];
  readonly callsInProgress: number;
  /** Null where there is no limit. */
  readonly callsMax: number | null;
}

export interface PhoneNumber {
  /** E.164, or the beginning of numbers and a star. */
  readonly number: string;
  readonly trunks: readonly string[];
  /** The only account that may use it; null: any. */
  readonly accountId: string | null;
  readonly agentId: string | null;
  readonly agentName: string | null;
  /** By an agent of this account, who is named, or of another, who is not. */
  readonly isTaken: boolean;
}

/** Figures without a measurement are null. */
export interface CallQuality {
  readonly codec: string | null;
  readonly local: {
    readonly packetsSent: number;
    readonly packetsUnsent: number;
    readonly packetsReceived: number;
    readonly packetsLost: number;
    readonly packetsLate: number;
    readonly lossPercent: number;
    readonly jitterMs: number;
  } | null;
  /** What the far end reported of our sound. */
  readonly remote: {
    readonly lossPercent: number;
    readonly jitterMs: number;
    readonly roundTripMs: number | null;
  } | null;
  /** From 1 (bad) to 4.5 (as good as a telephone gets). */
  readonly mos: number | null;
}
