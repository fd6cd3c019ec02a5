/** Events that the turn machine takes, its timers, and the effects that it returns; pure */
import type { ChatMessage, ToolCall } from '../../llm/language-model.ts';
import type { AudioEvent } from '../../media/audio-stream.ts';
import type { TranscriptionPriority, VoiceEvent } from '../../speech/hearing/hearing.ts';
import type { ToolOutcome } from '../../tool/tool.ts';
import type { ConversationEvent, PassageSource } from '../conversation-port.ts';

/** Timers of the turn machine. */
export type TurnTimer =
  /** The silence after the caller's words is long enough. */
  | 'end-of-turn'
  /** A voice over the agent's has lasted long. */
  | 'barge-in'
  /** Playout has been paused for long enough without a reason. */
  | 'pause-proof'
  /** Time for an interim result while the caller speaks. */
  | 'partial'
  /** A tool takes long, and the agent is silent meanwhile. */
  | 'filler'
  /** No further DTMF digit for a while. */
  | 'digits'
  /** Neither side has spoken for the silence timeout. */
  | 'silence'
  /** An answer makes no progress. */
  | 'reply'
  /** The closing sentence has to begin, so that it is over before the call must be. */
  | 'time-is-up'
  /** The call may not last any longer. */
  | 'max-duration'
  /** The closing sentence takes too long. */
  | 'closing';

/** `reply` is the reply's number, which is also its generation in the audio stream. */
export type TurnEvent =
  /** The agent greets. `isReturn`: the caller is back from a transfer; the conversation goes on where it was stopped. */
  | { readonly kind: 'started'; readonly isReturn?: boolean }
  /** An outgoing call was answered, perhaps by a machine: the agent listens, and is silent until `started`. */
  | { readonly kind: 'screening-began' }
  /** A machine has answered: the agent falls silent, and listens until its greeting is over. */
  | { readonly kind: 'machine-answered' }
  /** The machine records: the agent leaves its message, and hangs up. */
  | { readonly kind: 'message-due'; readonly text: string }
  /** The agent hangs up, without a word. */
  | { readonly kind: 'hang-up-due' }
  | { readonly kind: 'voice-started'; readonly voicedAtMs: number }
  | Exclude<VoiceEvent, { readonly kind: 'voice-started' }>
  | {
      readonly kind: 'transcribed';
      readonly attempt: number;
      readonly text: string;
      readonly confidence: number;
      /** @see Utterance.clearVoiceMs */
      readonly clearVoiceMs?: number;
    }
  | { readonly kind: 'transcription-failed'; readonly attempt: number }
  /** The model has not given its first clause yet; sent several times a second. @see llm-stream.ts */
  | { readonly kind: 'model-waits'; readonly reply: number; readonly waitedMs: number }
  /** The model was given passages of the agent's documents. */
  | {
      readonly kind: 'passages-given';
      readonly reply: number;
      readonly sources: readonly PassageSource[];
    }
  /** The model's first word, or first tool call. */
  | { readonly kind: 'model-began'; readonly reply: number }
  | { readonly kind: 'clause'; readonly reply: number; readonly text: string }
  | { readonly kind: 'tool-called'; readonly reply: number; readonly call: ToolCall }
  | { readonly kind: 'model-finished'; readonly reply: number }
  | { readonly kind: 'model-failed'; readonly reply: number }
  | {
      readonly kind: 'tool-finished';
      readonly reply: number;
      readonly call: ToolCall;
      readonly outcome: ToolOutcome;
    }
  /** A tool whose reply was dropped has been carried out all the same. */
  | { readonly kind: 'tool-settled'; readonly call: ToolCall; readonly outcome: ToolOutcome }
  /** More audio of a clause is there; `isWhole` when it was the last of it. A clause that failed is whole. */
  | {
      readonly kind: 'voiced';
      readonly reply: number;
      readonly clause: number;
      readonly audioMs: number;
      readonly isWhole: boolean;
      /** Share of the clause's audio after which each of its words has been said, where that is known. */
      readonly wordEnds?: readonly number[];
    }
  | { readonly kind: 'playout-started'; readonly reply: number; readonly startedAtMs: number }
  | { readonly kind: 'playout-paused'; readonly reply: number; readonly playedMs: number }
  | {
      readonly kind: 'playout-finished';
      readonly reply: number;
      readonly playedMs: number;
      readonly isComplete: boolean;
    }
  | { readonly kind: 'digit'; readonly digit: string }
  /** A transfer is in progress, or no longer. */
  | { readonly kind: 'transfer-pending'; readonly isUnderWay: boolean }
  /** A transfer failed after its tool had already answered. */
  | { readonly kind: 'transfer-failed' }
  /** A third party joined (three-way call) or left. */
  | { readonly kind: 'third-party'; readonly isThere: boolean }
  /** The caller has moved the call: another party is on the line in its place. */
  | { readonly kind: 'far-end-moved' }
  /** The far end has put the call on hold, or has taken it back. */
  | { readonly kind: 'hold'; readonly isOnHold: boolean }
  | { readonly kind: 'media-lost' }
  | { readonly kind: 'timer'; readonly timer: TurnTimer }
  /** The call ended from outside. */
  | { readonly kind: 'stopped' };

/** `atMs` is `Clock.nowMs()` at which the machine learns of it; it never goes back. */
export type TimedTurnEvent = TurnEvent & { readonly atMs: number };

/** The turn event of one kind, with its time. */
export type TurnEventOf<Kind extends TurnEvent['kind']> = Extract<
  TimedTurnEvent,
  { readonly kind: Kind }
>;

/** Events that the turn machine has no use for are undefined. */
export function turnEventOfAudio(event: AudioEvent): TurnEvent | undefined {
  switch (event.kind) {
    case 'voice-started':
    case 'voice-stopped':
      return voiceEvent(event);
    case 'playout-started':
      return { kind: event.kind, reply: event.generation, startedAtMs: event.atMs };
    case 'playout-paused':
      return { kind: event.kind, reply: event.generation, playedMs: event.playedMs };
    case 'playout-finished': {
      const { kind, generation, playedMs, isComplete } = event;
      return { kind, reply: generation, playedMs, isComplete };
    }
    case 'digit':
      return { kind: event.kind, digit: event.digit };
    case 'hold':
      return event;
    case 'media-lost':
      return { kind: event.kind };
    case 'media-arrived':
    case 'recording-failed':
      return undefined;
    default:
      return event satisfies never;
  }
}

/** Turn event of a VAD event. */
export function voiceEvent(event: VoiceEvent): TurnEvent {
  return event.kind === 'voice-started' ? { kind: event.kind, voicedAtMs: event.atMs } : event;
}

/** Effects of the turn machine, to be run in order. */
export type TurnEffect =
  | { readonly kind: 'listen'; readonly fromMs: number }
  | { readonly kind: 'stop-listening' }
  | {
      readonly kind: 'transcribe';
      readonly attempt: number;
      readonly priority: TranscriptionPriority;
    }
  | { readonly kind: 'cancel-transcription' }
  /** Asks the model for (more of) a reply. */
  | { readonly kind: 'ask'; readonly reply: number; readonly messages: readonly ChatMessage[] }
  /** Turns one clause of a reply into audio, after the clauses before it. */
  | {
      readonly kind: 'voice';
      readonly reply: number;
      readonly clause: number;
      readonly text: string;
    }
  /** Lets a reply's audio out, now and as it comes. */
  | { readonly kind: 'release'; readonly reply: number }
  /** Holds a reply's audio back again; none of it has been sent yet. */
  | { readonly kind: 'hold'; readonly reply: number }
  /** The reply has no more clauses. */
  | { readonly kind: 'finish'; readonly reply: number }
  /** Stops thinking, voicing and playing a reply. */
  | { readonly kind: 'drop'; readonly reply: number }
  | { readonly kind: 'resume'; readonly reply: number }
  /** Keeps a key for the tool that takes keys, and is about to run. */
  | { readonly kind: 'type-ahead'; readonly key: string }
  | { readonly kind: 'run-tool'; readonly reply: number; readonly call: ToolCall }
  /** How long the caller is loud before playout pauses; null: it does not. */
  | { readonly kind: 'set-pause-after'; readonly voiceMs: number | null }
  | { readonly kind: 'set-timer'; readonly timer: TurnTimer; readonly delayMs: number }
  | { readonly kind: 'cancel-timer'; readonly timer: TurnTimer }
  | { readonly kind: 'emit'; readonly event: ConversationEvent }
  /** The conversation is over: stop everything. */
  | { readonly kind: 'close' };
