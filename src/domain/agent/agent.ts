/** The configured voice agent, and the contract of the store that keeps agents. */
import type { Environment } from '../account/account.ts';
import type { Page, PageRange } from '../ids.ts';

/** A number that `transfer_call` may reach, by its label. */
export interface TransferTarget {
  /** Name that the model sees and says, such as `sales`. */
  readonly label: string;
  /** E.164. */
  readonly number: string;
}

/** Spoken form of a word, such as a name. */
export interface Pronunciation {
  readonly written: string;
  readonly spoken: string;
}

/** How soon the agent takes a caller's pause for the end of the turn, from the soonest. */
export const RESPONSIVENESS = ['fast', 'balanced', 'patient'] as const;

/** One of `RESPONSIVENESS`. */
export type Responsiveness = (typeof RESPONSIVENESS)[number];

/** Actions of an agent when an answering machine takes its call. */
export const VOICEMAIL_ACTIONS = ['continue', 'hang_up', 'leave_message'] as const;

/** Handling of an outgoing call that an answering machine takes. */
export interface Voicemail {
  /** `continue`: the agent talks as to a person. */
  readonly action: (typeof VOICEMAIL_ACTIONS)[number];
  /** Message of `leave_message`, said once; other actions keep it unused. Null for none. */
  readonly message: string | null;
}

/** Actions after a transfer by a second call, when the other party hangs up first. */
export const AFTER_TRANSFER = ['end', 'return'] as const;

/** `end`: the call ends. `return`: the caller is back with the agent. */
export type AfterTransfer = (typeof AFTER_TRANSFER)[number];

/** Call settings of an agent: limits, barge-in, transfers, pronunciations. */
export interface AgentSettings {
  readonly maxDurationSeconds: number;
  readonly silenceTimeoutSeconds: number;
  readonly interruptible: boolean;
  /** Targets of `transfer_call`; empty denies. */
  readonly transferTargets: readonly TransferTarget[];
  readonly afterTransfer: AfterTransfer;
  /** Whether a warm transfer needs the other party's "yes", or key 1. */
  readonly transferAcceptance: boolean;
  /** Pronunciations for speech only; transcripts keep the written form. */
  readonly pronunciations: readonly Pronunciation[];
  readonly voicemail: Voicemail;
}

/** Settings of an agent that names none. */
export const DEFAULT_AGENT_SETTINGS: AgentSettings = {
  maxDurationSeconds: 600,
  silenceTimeoutSeconds: 10,
  interruptible: true,
  transferTargets: [],
  afterTransfer: 'end',
  transferAcceptance: true,
  pronunciations: [],
  voicemail: { action: 'continue', message: null },
};

/** Responsiveness of an agent that names none. */
export const DEFAULT_RESPONSIVENESS: Responsiveness = 'balanced';

/** A paused agent takes no calls and places none. */
export type AgentStatus = 'active' | 'paused';

/** Which way a change of an agent came: a customer's own key, or a person at the dashboard. */
export type ChangedBy = 'api' | 'dashboard';

/** A configured voice agent. */
export interface Agent {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly greeting: string;
  readonly systemPrompt: string;
  readonly voice: string;
  readonly language: string;
  /** E.164, or null when the agent is reached only by outbound, browser or sandbox. */
  readonly phoneNumber: string | null;
  readonly tools: readonly string[];
  readonly responsiveness: Responsiveness;
  /** Name of a model at the server's language model engine; null for the server's own. */
  readonly model: string | null;
  /** Name of the gateway of `send_sms`; null for the account's only one. */
  readonly smsGateway: string | null;
  /** Name of the calendar that it books in; null for none. */
  readonly calendar: string | null;
  /** JSON Schema of the values that are extracted from each call after its end; null for none. */
  readonly extract: Readonly<Record<string, unknown>> | null;
  /** Goal of a call, in a sentence; null where calls are not judged. */
  readonly successCriteria: string | null;
  readonly settings: AgentSettings;
  readonly status: AgentStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An agent with its usage of today. */
export interface AgentWithUsage extends Agent {
  readonly totalCallsToday: number;
  /** Rounded to 0.1. */
  readonly totalMinutesToday: number;
}

/** An agent as its own page shows it. */
export interface AgentDetail extends AgentWithUsage {
  /** When its draft was saved; null without one. */
  readonly draftAt: Date | null;
}

/** Account and environment of a request; records of others are never found. */
export interface Scope {
  readonly accountId: string;
  readonly environment: Environment;
}

/** Whether two records are of the same account and environment. */
export function isSameScope(one: Scope, other: Scope): boolean {
  return one.accountId === other.accountId && one.environment === other.environment;
}

/** An agent as lists show it: without its words, which may be long. */
export type AgentSummary = Omit<
  AgentWithUsage,
  | 'greeting'
  | 'systemPrompt'
  | 'tools'
  | 'responsiveness'
  | 'model'
  | 'smsGateway'
  | 'calendar'
  | 'extract'
  | 'successCriteria'
  | 'settings'
>;

/** Which agents to list; all of them without a status. */
export interface AgentQuery extends PageRange {
  readonly status?: AgentStatus;
}

/** Keeps agents and their versions; each change writes both in one transaction. */
export interface AgentStore {
  /**
   * @param by `api` unless given.
   * @throws {ServiceError} CONFLICT when another agent of the environment holds the phone number.
   */
  insert(agent: Agent, by?: ChangedBy): Promise<void>;

  /**
   * Saves the agent, with a new version unless nothing differs.
   *
   * @throws {ServiceError} CONFLICT as `insert`.
   */
  update(agent: Agent, by?: ChangedBy): Promise<void>;

  /**
   * Checks a number that is not written yet.
   *
   * @throws {ServiceError} CONFLICT as `insert`.
   */
  requireFreeNumber(agent: Agent): Promise<void>;

  /** Its versions and its draft go with it. @throws {ServiceError} CONFLICT while the agent has a live call. */
  delete(scope: Scope, agentId: string): Promise<void>;

  find(scope: Scope, agentId: string): Promise<Agent | undefined>;

  /** Finds an agent with its usage since 00:00 UTC of `now`, and whether it has a draft. */
  findWithUsage(scope: Scope, agentId: string, now: Date): Promise<AgentDetail | undefined>;

  list(scope: Scope, query: AgentQuery, now: Date): Promise<Page<AgentSummary>>;

  /** The live agent of a called number, of any account. */
  findByPhoneNumber(phoneNumber: string): Promise<Agent | undefined>;
}
