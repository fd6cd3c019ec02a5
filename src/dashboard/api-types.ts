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

export interface Agent extends AgentItem {
  readonly greeting: string;
  readonly systemPrompt: string;
  readonly updatedAt: string;
  readonly tools: readonly string[];
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
