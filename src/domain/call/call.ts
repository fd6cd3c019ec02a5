/** The record of a call that a customer sees, its states, tags and note, and the contracts of the stores that keep it. */
import type { Notifier } from '../../lib/clock.ts';
import type { Environment } from '../account/account.ts';
import type { Scope, Voicemail } from '../agent/agent.ts';
import type { ServiceEvent } from '../webhook/service-event.ts';
import type { CallCost, CallPrice } from './call-cost.ts';
import type { CallSearch } from './call-search.ts';

/** States of a call; `canMove` (call-life.ts) has their transitions. */
export type CallStatus = 'queued' | 'ringing' | 'in_progress' | 'completed' | 'failed';

/** Who placed the call: the caller (`inbound`) or this server (`outbound`). */
export type CallDirection = 'inbound' | 'outbound';

/** Why a call ended. A final SIP status is mapped to it by `call/session/end-reason.ts`. */
export const END_REASONS = [
  'user_hangup',
  'agent_hangup',
  'timeout',
  'transferred',
  'error',
  'no_answer',
  'busy',
] as const;

/** One of `END_REASONS`. */
export type EndReason = (typeof END_REASONS)[number];

/** Who took an outgoing call, as far as answering machine detection can tell. */
export type AnsweredBy = 'human' | 'machine' | 'unknown';

/** One utterance of the transcript. */
export interface TranscriptEntry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly at: Date;
  /** From 0 to 1; on user entries. */
  readonly confidence?: number;
}

/** Overrides of one outbound call: fields that replace the agent's, and headers of its INVITE. */
export interface CallOverrides {
  readonly greeting?: string;
  readonly maxDurationSeconds?: number;
  readonly systemPrompt?: string;
  readonly voice?: string;
  readonly language?: string;
  /** SIP headers by name: X- headers and User-to-User. */
  readonly sipHeaders?: Readonly<Record<string, string>>;
  readonly voicemail?: Voicemail;
}

/** Whether a call met its agent's success criteria. */
export interface CallSuccess {
  readonly met: boolean;
  /** In a sentence. */
  readonly reason: string;
}

/** The record of a call. */
export interface Call {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Scope['environment'];
  readonly agentId: string;
  readonly direction: CallDirection;
  readonly status: CallStatus;
  readonly from: string;
  readonly to: string;
  /** When the request or the INVITE came. */
  readonly createdAt: Date;
  /** When the call began: the INVITE for inbound, the dialling for outbound, the request where it was never dialled; null while queued. */
  readonly startedAt: Date | null;
  readonly answeredAt: Date | null;
  readonly endedAt: Date | null;
  /** Null for incoming calls, and until it is known. */
  readonly answeredBy: AnsweredBy | null;
  readonly endReason: EndReason | null;
  /** Why it failed, or why it waits in the queue: a sentence for customers. Null otherwise. */
  readonly failureReason: string | null;
  /** The final status by which the far end refused our INVITE; null where there was none. */
  readonly sipStatus: number | null;
  /** A queued call is not dialled before; null where it was not asked for. */
  readonly notBeforeAt: Date | null;
  /** `notAfter` of the request; null where it has none. */
  readonly notAfterAt: Date | null;
  /** Deadline of a queued call; null for incoming calls. */
  readonly expiresAt: Date | null;
  /** Whole seconds from answer to end, rounded up; 0 when never answered. */
  readonly durationSeconds: number;
  /** Price of its trunk when the call was answered, which sets the cost; null where unknown, and until the answer. */
  readonly price: CallPrice | null;
  /** Null until it is over, where it was never answered, and where its price is unknown. */
  readonly cost: CallCost | null;
  /** The carrier's identifier of the call: the SIP Call-ID. */
  readonly carrierCallSid: string | null;
  /** Path of the recording inside the data folder, null when there is none. */
  readonly recordingFile: string | null;
  /** Whether the recording ends before the call does, because the disk took no more. */
  readonly recordingTruncated: boolean;
  readonly summary: string | null;
  readonly sentiment: 'positive' | 'neutral' | 'negative' | null;
  readonly sentimentScore: number | null;
  readonly intentDetected: string | null;
  /** Values for the agent's `extract`; null where it asks for nothing, or they could not be read out of the call. */
  readonly extracted: Readonly<Record<string, unknown>> | null;
  /** Whether the agent's `successCriteria` were met; null where it has none, or the call was not judged. */
  readonly success: CallSuccess | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly overrides: CallOverrides;
  /** Which party the sandbox lets ring in; null for every call that is not simulated, and for outbound ones. */
  readonly scenario: string | null;
}

/** A call as lists show it. */
export interface CallSummary extends Call {
  readonly hasTranscript: boolean;
}

/** A page of calls; filters left out match every call. */
export interface CallQuery {
  readonly agentId?: string;
  readonly status?: CallStatus;
  readonly direction?: CallDirection;
  readonly endReason?: EndReason;
  readonly sentiment?: NonNullable<Call['sentiment']>;
  readonly answeredBy?: AnsweredBy;
  readonly tag?: string;
  readonly search?: CallSearch;
  /** Inclusive. */
  readonly minDurationSeconds?: number;
  /** Inclusive. */
  readonly maxDurationSeconds?: number;
  /** Inclusive. */
  readonly startedFrom?: Date;
  /** Exclusive. */
  readonly startedBefore?: Date;
  readonly limit: number;
  readonly offset: number;
  /** Position after which the page begins, instead of `offset`. */
  readonly after?: CallPosition;
}

/** Place of a call in a list. */
export interface CallPosition {
  /** Its start; its creation while it has not started. */
  readonly at: Date;
  readonly id: string;
}

/** A page of a list of calls. */
export interface CallList {
  readonly calls: readonly CallSummary[];
  /** All calls that the filters match. */
  readonly total: number;
  /** Matching calls before the page. */
  readonly offset: number;
}

/** One line of a call's timeline, such as a turn with its latencies. */
export interface TimelineEntry {
  readonly at: Date;
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Fields of a queued call that choose the next one to dial. */
export type WaitingParty = Pick<
  Call,
  'id' | 'accountId' | 'from' | 'to' | 'failureReason' | 'notBeforeAt' | 'notAfterAt' | 'expiresAt'
>;

/** A call's new state with the events that it causes; saved together or not at all. */
export interface CallChange {
  readonly call: Call;
  readonly events: readonly ServiceEvent[];
}

/** Keeps calls. Every method is one transaction. */
export interface CallStore {
  /** Saves a new call together with the events that its creation causes. */
  insert(call: Call, events: readonly ServiceEvent[]): Promise<void>;

  /**
   * Saves the call's new state together with the events that it causes: both or neither.
   *
   * @throws {Error} when the stored status may not move to the new one.
   */
  update(call: Call, events: readonly ServiceEvent[]): Promise<void>;

  /**
   * Reads a call, and saves the change that `decide` returns, in one transaction.
   *
   * @param decide Undefined changes nothing.
   * @returns the saved change; undefined where there is no such call, or nothing changed.
   */
  change(
    callId: string,
    decide: (call: Call) => CallChange | undefined,
  ): Promise<CallChange | undefined>;

  addTranscriptEntry(callId: string, entry: TranscriptEntry): Promise<void>;

  /** In the order in which they began to be spoken. */
  transcript(callId: string): Promise<readonly TranscriptEntry[]>;

  addTimelineEntry(callId: string, entry: TimelineEntry): Promise<void>;

  timeline(callId: string): Promise<readonly TimelineEntry[]>;

  find(scope: Scope, callId: string): Promise<Call | undefined>;

  /** Finds a call of any account: for the bearer of a link whose signature has been checked. */
  findById(callId: string): Promise<Call | undefined>;

  list(scope: Scope, query: CallQuery): Promise<CallList>;

  /** Calls that a process before this one left `ringing` or `in_progress`. */
  findUnfinished(): Promise<readonly Call[]>;

  /** Notifies after a call was saved as `queued`. */
  readonly queueNotifier: Notifier;

  /** Outbound calls that wait to be placed, in the order in which they were asked for; their records are not read. */
  waitingToDial(environment: Environment, limit: number): Promise<readonly WaitingParty[]>;

  /** Calls that wait to be placed, in the order in which they were asked for. */
  queued(
    environment: Environment,
    direction: CallDirection,
    limit: number,
  ): Promise<readonly Call[]>;

  countQueued(environment: Environment, direction: CallDirection): Promise<number>;
}

/** Labels for calls of every agent, in addition to labels of its earlier calls. */
export const DEFAULT_INTENTS = [
  'booking',
  'support',
  'sales',
  'billing',
  'information',
  'transfer',
  'complaint',
  'other',
] as const;

/** Result of the analysis of a call after its end. */
export interface CallAnalysis {
  readonly summary: string;
  readonly sentiment: 'positive' | 'neutral' | 'negative';
  /** From 0 (bad) to 1 (good). */
  readonly sentimentScore: number;
  /** snake_case. */
  readonly intentDetected: string;
}

/** An ended call that waits for its analysis. */
export interface AnalysisJob {
  readonly callId: string;
  /** Tries that have failed. */
  readonly attempts: number;
  readonly endedAt: Date;
}

/** Keeps the jobs of calls that wait for analysis. */
export interface AnalysisStore {
  /** Notifies after a call that was answered has ended. */
  readonly notifier: Notifier;

  /** Jobs whose time has come, oldest first. */
  due(environment: Environment, now: Date, limit: number): Promise<readonly AnalysisJob[]>;

  /** Puts a job off after a failed try. */
  retryAt(callId: string, dueAt: Date): Promise<void>;

  /** Saves the analysed call with its event and removes the job, in one transaction. Does nothing when the job is gone. */
  finish(call: Call, events: readonly ServiceEvent[]): Promise<void>;

  /** Labels that calls of this agent have had, most frequent first. */
  intentsOf(agentId: string, limit: number): Promise<readonly string[]>;

  /** Whether any job of this environment waits, due or not. */
  isAnyWaiting(environment: Environment): Promise<boolean>;

  /** How many jobs wait, of both environments. */
  count(): Promise<number>;
}

/** @see the interface specification, "Appointment" */
export interface Appointment {
  /** `appt_…`. */
  readonly id: string;
  readonly title: string;
  readonly startTime: Date;
  readonly endTime: Date;
  readonly attendeePhone: string;
  readonly attendeeName: string;
  readonly calendarId: string;
  readonly confirmed: boolean;
}

/** Tags of a call, at most. */
export const TAGS_MAX = 20;

/** Length of a tag, at most. */
export const TAG_CHARS_MAX = 50;

/** Length of a note, at most. */
export const NOTE_CHARS_MAX = 10_000;

/** Tags are sorted and without repetitions; the note is null where there is none. */
export interface CallNote {
  readonly tags: readonly string[];
  readonly note: string | null;
}

/** Keeps notes apart from the calls: a call that is going on writes its whole record, and would write over them. */
export interface CallNoteStore {
  /** The notes of calls, by id; calls without one are missing. */
  ofCalls(callIds: readonly string[]): Promise<ReadonlyMap<string, CallNote>>;

  /** Replaces the given fields. @returns the whole note. */
  change(callId: string, change: Partial<CallNote>): Promise<CallNote>;
}

/** A call without tags and note. */
export const NO_NOTE: CallNote = { tags: [], note: null };
