/** Settings of the turn machine: brief, phrases, barge-in times, silence that ends a turn, speculation; pure */

import type { Responsiveness } from '../../domain/agent/agent.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ToolCall } from '../../llm/language-model.ts';
import type { Toolbox } from '../../tool/toolbox.ts';
import type { ConversationBrief } from '../conversation-port.ts';
import { type Phrases, phrasesFor } from '../reply/phrases.ts';
import type { TurnTimer } from './turn-event.ts';

/** Silence to wait for, in milliseconds; 3 s at most in every case. */
export interface EndpointingWaits {
  /** Wait after a value that cannot go on, and after a turn that words and a trusted turn model take for complete. */
  readonly silenceMsMin: number;
  /** Wait after words that break off. */
  readonly silenceMsMax: number;
  /** Wait after a whole question: it gives up the floor. */
  readonly questionMs: number;
  /** Wait after a whole statement: another sentence may follow. */
  readonly statementMs: number;
}

/**
 * How much later than the caller's voice the detector's ends: 4 to 108 ms on twelve phrases. It is taken off the wait after a
 * question, so that the caller hears 200, 300 or 600 ms of silence.
 */
const DETECTOR_LATE_MS = 50;

/** The first two of each are for a turn model that is trusted, the other two for words alone. */
export const ENDPOINTING_WAITS: Readonly<Record<Responsiveness, EndpointingWaits>> = {
  fast: {
    silenceMsMin: 200,
    silenceMsMax: 900,
    questionMs: 200 - DETECTOR_LATE_MS,
    statementMs: 300,
  },
  balanced: {
    silenceMsMin: 250,
    silenceMsMax: 1200,
    questionMs: 300 - DETECTOR_LATE_MS,
    statementMs: 750,
  },
  patient: {
    silenceMsMin: 500,
    silenceMsMax: 1800,
    questionMs: 600 - DETECTOR_LATE_MS,
    statementMs: 1200,
  },
};

/** Spans that decide how patient and how quick the agent is. */
interface TurnTiming extends EndpointingWaits {
  /**
   * Barge-in threshold: voice over the agent's for this long interrupts it, with any words; the detector takes 0.1 s to tell
   * that a voice has stopped, so that one of 0.8 s is still judged by its words. Playout pauses earlier, in media
   * time: `VOICE_FRAMES` in src/media/dsp/energy-detector.ts.
   */
  readonly bargeInMs: number;
  /** Time after which playout resumes if no voice caused its pause. */
  readonly pauseProofMs: number;
  /** Time after which playout resumes if a voice caused its pause, but the words are still unknown. */
  readonly pauseMsMax: number;
  /** Longest speech, after which no speculation starts. */
  readonly speculationSpeechMsMax: number;
  /** Most speculative answers in one turn. */
  readonly speculationsMax: number;
  /** Interval of interim results while the caller speaks. */
  readonly interimMs: number;
  /** An interim result that takes longer stops them until the caller pauses: the recogniser is busy. */
  readonly interimTookMsMax: number;
  /** A tool that takes longer is bridged with a phrase. Its first packet has to leave 0.7 s after the tool's start. */
  readonly fillerMs: number;
  /** A model that takes longer for its first clause is bridged with a word. */
  readonly modelFillerMs: number;
  /** A model that still has not answered, or a tool that still runs: the agent says that it takes longer than usual. */
  readonly patienceMs: number;
  /** Pause after the last key before the digits count as said. */
  readonly digitsMs: number;
  /** How long an answer may make no progress before the agent apologises. */
  readonly replyMsMax: number;
  /** How long a closing sentence may take. */
  readonly closingMsMax: number;
  /** How long the message for an answering machine may take. */
  readonly messageMsMax: number;
  /** How long before the call's end the agent says that the time is up, which takes up to 5 s. */
  readonly timeIsUpMs: number;
  /** Time for hanging up: it begins this long before the call's maximum. */
  readonly hangUpMs: number;
}

/** Default times of turn-taking, in milliseconds. */
export const DEFAULT_TIMING: TurnTiming = {
  ...ENDPOINTING_WAITS.balanced,
  bargeInMs: 900,
  pauseProofMs: 300,
  pauseMsMax: 1500,
  speculationSpeechMsMax: 10_000,
  speculationsMax: 3,
  interimMs: 500,
  interimTookMsMax: 600,
  fillerMs: 500,
  modelFillerMs: 1500,
  patienceMs: 5000,
  digitsMs: 2000,
  replyMsMax: 15_000,
  closingMsMax: 15_000,
  messageMsMax: 180_000,
  timeIsUpMs: 6000,
  hangUpMs: 500,
};

/** Settings of the turn machine that stay the same during a call. */
export interface TurnRules {
  readonly brief: ConversationBrief;
  readonly phrases: Phrases;
  readonly timing: TurnTiming;
  /** Whether answers are begun before the turn is over. */
  readonly maySpeculate: boolean;
  /** How far the turn model is to be believed, from 0 (there is none) to 1. */
  readonly turnTrust: number;
  /** Country in which the agent is called, ISO 3166-1 alpha-2; it decides how long a telephone number is. */
  readonly country: string | null;
  /** Whether a tool call waits until the words said along with it have been heard. */
  readonly isAfterWords: (call: ToolCall) => boolean;
  /** Whether a tool call takes keys of the caller, which the turn machine then does not see; none unless given. */
  readonly takesKeys?: (call: ToolCall) => boolean;
  /** Whether the agent has a tool for secret numbers: long ones that are typed without it are not shown. */
  readonly hasKeypad?: boolean;
  /** Whether the tool call needs words that were recognised surely; false where the tool would refuse it anyway. */
  readonly needsSureWords: (call: ToolCall) => boolean;
  /** Words that the caller hears while a tool runs; undefined for the set phrase. */
  readonly sayWhileWaiting?: (call: ToolCall) => string | undefined;
  /** Start of the call, for the prompt: the model is asked for dates and times. */
  readonly startedAt: Date;
}

/** Timers of one conversation, one per name: setting a timer again replaces it. */
export class TurnTimers {
  readonly #clock: Clock;
  readonly #onRing: (timer: TurnTimer) => void;
  /** Cancels each wait; without effect once it has rung. */
  readonly #waits = new Map<TurnTimer, () => void>();

  constructor(options: {
    readonly clock: Clock;
    readonly onRing: (timer: TurnTimer) => void;
  }) {
    this.#clock = options.clock;
    this.#onRing = options.onRing;
  }

  set(timer: TurnTimer, delayMs: number): void {
    this.cancel(timer);
    this.#waits.set(
      timer,
      this.#clock.after(delayMs, () => this.#onRing(timer)),
    );
  }

  cancel(timer: TurnTimer): void {
    this.#waits.get(timer)?.();
  }

  cancelAll(): void {
    for (const cancel of this.#waits.values()) cancel();
  }
}

/** How a conversation takes turns. */
export interface RuleOptions {
  readonly brief: ConversationBrief;
  readonly tools: Toolbox;
  readonly clock: Clock;
  /** Whether answers are begun before the caller's turn is over; true unless given. */
  readonly maySpeculate?: boolean;
  /** How far the scores of the turn model are to be believed, from 0 to 1; 0 unless given. */
  readonly turnTrust?: number;
  /** Country in which the agent is called, ISO 3166-1 alpha-2; the region of the language unless given. */
  readonly country?: string;
  readonly timing?: Partial<TurnTiming>;
  /** When the call began; now, unless given. */
  readonly startedAt?: Date | undefined;
}

/** Derives the turn machine's settings from brief, language and timing. */
export function rulesFor(options: RuleOptions): TurnRules {
  const { brief, tools, clock } = options;
  return {
    brief,
    phrases: phrasesFor(brief.language),
    timing: {
      ...DEFAULT_TIMING,
      ...ENDPOINTING_WAITS[brief.responsiveness ?? 'balanced'],
      ...options.timing,
    },
    maySpeculate: options.maySpeculate ?? true,
    turnTrust: options.turnTrust ?? 0,
    country: options.country ?? /-([A-Z]{2})\b/i.exec(brief.language)?.[1]?.toUpperCase() ?? null,
    isAfterWords: (call) => tools.isAfterWords(call),
    takesKeys: (call) => tools.takesKeys(call),
    hasKeypad: tools.hasKeypad,
    needsSureWords: (call) => tools.needsSureWords(call),
    sayWhileWaiting: (call) => tools.sayWhileWaiting(call),
    startedAt: options.startedAt ?? clock.now(),
  };
}
