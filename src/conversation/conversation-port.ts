/** Port between a call and its conversation: brief, events, call control. */
import type { Pronunciation, Responsiveness, Voicemail } from '../domain/agent/agent.ts';
import type { AnsweredBy, Appointment, TranscriptEntry } from '../domain/call/call.ts';
import type { MeasuredTurn } from '../lib/metrics/metrics.ts';
import type { ChatMessage } from '../llm/language-model.ts';
import type { AudioStream } from '../media/audio-stream.ts';

/** How a conversation is to be held: the agent's configuration with the call's overrides laid over it. */
export interface ConversationBrief {
  readonly greeting: string;
  readonly systemPrompt: string;
  readonly voice: string;
  readonly language: string;
  /** How words are to be said that are written otherwise; none unless given. */
  readonly pronunciations?: readonly Pronunciation[];
  readonly isInterruptible: boolean;
  /** Balanced unless given. */
  readonly responsiveness?: Responsiveness;
  readonly silenceTimeoutMs: number;
  readonly maxDurationMs: number;
  /** Set only for outgoing calls, which answering machines may take. */
  readonly voicemail?: Voicemail;
}

/** Sign that told a person from an answering machine. */
export type AnswerSign = 'beep' | 'words' | 'long_talk' | 'short_talk' | 'undecided';

/** Question to a transfer target whether it takes the call. */
export interface AcceptanceQuestion {
  /** 8 kHz, mono, in chunks of any length. */
  readonly question: () => AsyncIterable<Int16Array>;
  /** Listens for a spoken answer; returns a function that stops it. Undefined without speech recognition. */
  readonly hear?:
    | ((audio: AudioStream, onAnswer: (isYes: boolean) => void) => () => void)
    | undefined;
}

/** State of a stopped conversation, for the next one of the same call. */
export interface ConversationSoFar {
  readonly history: readonly ChatMessage[];
  /** Number of the newest reply: generations of an audio stream only grow. */
  readonly lastReplyId: number;
  readonly turns: number;
  /** When the call began. */
  readonly startedAt: Date;
}

/** Timing of one turn by stage, and how its answer came about. */
export interface TurnTimes extends MeasuredTurn {
  readonly turn: number;
  /** Whether the answer had been begun before the turn was over. */
  readonly speculated: boolean;
  /** Set where the first audio was a filler because a tool was slow. */
  readonly filler?: boolean;
  /** Set where the turn was pressed on telephone keys: the times count from the last key. */
  readonly keyed?: boolean;
}

/** Location of a passage that the model was given. */
export interface PassageSource {
  /** Name of the document. */
  readonly document: string;
  readonly version: number;
  /** Place of the passage in the document, from 1. */
  readonly passage: number;
}

/** A conversation that cannot go on. */
export interface ConversationFailure {
  readonly kind: 'failed';
  readonly reason: string;
  /** Set where the cause is the caller's line: no audio comes any more. */
  readonly isSilentLine?: boolean;
}

/** Why a conversation wants the call to end. */
export type ConversationEnd =
  | { readonly kind: 'agent-hangup' }
  | { readonly kind: 'timeout'; readonly cause: 'silence' | 'max-duration' }
  | { readonly kind: 'transferred' }
  | ConversationFailure;

/** Events of a conversation, for the call's record, metrics and live view. */
export type ConversationEvent =
  | { readonly kind: 'said'; readonly entry: TranscriptEntry }
  | { readonly kind: 'turn'; readonly times: TurnTimes }
  | { readonly kind: 'barge-in' }
  /** Passages of the agent's documents that the last reply was given. */
  | { readonly kind: 'knowledge'; readonly sources: readonly PassageSource[] }
  /** Who took an outgoing call; a person may turn out to be a machine later, never the other way round. */
  | {
      readonly kind: 'answered-by';
      readonly answeredBy: AnsweredBy;
      readonly sign: AnswerSign;
      /** Since the answer. */
      readonly afterMs: number;
    }
  /** Interim result while the caller speaks; it may still change, and is not kept. Empty where it came to nothing. */
  | { readonly kind: 'hearing'; readonly text: string }
  /** An answer begun before the end of a turn could be used, or was thrown away. */
  | { readonly kind: 'speculation'; readonly outcome: 'hit' | 'miss' }
  /** A tool has run. `done` where it changed something; `name` is `unknown` where the model made one up. */
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly outcome: 'done' | 'refused';
      readonly tookMs: number;
      /** Why it was not done, for the operator; not always known. */
      readonly problem?: string;
    }
  | { readonly kind: 'ended'; readonly end: ConversationEnd };

/** Call control that a conversation's tools use. */
export interface CallControl {
  /**
   * Transfers the caller.
   *
   * @param summary what the caller wants, in a sentence or two; empty when unknown.
   * @param announcement what the other party alone hears first: 8 kHz, mono, in chunks of any length.
   * @throws when the transfer was refused or failed; the conversation goes on.
   */
  transfer(
    number: string,
    summary: string,
    announcement?: () => AsyncIterable<Int16Array>,
  ): Promise<void>;

  /**
   * Calls a third party and connects it with the caller and the agent; the conversation goes on, and is notified.
   *
   * @param announcement as for `transfer`.
   * @throws when it was refused or failed.
   */
  bringIn(
    number: string,
    summary: string,
    announcement?: () => AsyncIterable<Int16Array>,
  ): Promise<void>;

  /** Presses telephone keys on the line: 0-9 * # A-D, and `w` for a pause of half a second. The agent's words wait. */
  sendDigits(digits: string): void;

  /** Puts an appointment on record that was made for the caller. */
  appointmentBooked(appointment: Omit<Appointment, 'id'>): void;
}
