/** State of the turn machine between two events; pure */
import type { ChatMessage, ToolCall } from '../../llm/language-model.ts';
import type {
  ConversationEnd,
  ConversationSoFar,
  PassageSource,
  TurnTimes,
} from '../conversation-port.ts';
import type { Piece } from '../history/heard-words.ts';
import { LEVEL_UNKNOWN, type SpokenLevel } from './backchannel.ts';
import type { TurnEffect } from './turn-event.ts';
import type { TurnRules } from './turn-rules.ts';

/** Recognised words of an utterance up to its last pause. */
export interface Words {
  /** Trimmed; empty when there was no speech in it. */
  readonly text: string;
  readonly confidence: number;
  readonly atMs: number;
  /** @see Utterance.clearVoiceMs */
  readonly clearVoiceMs?: number | undefined;
}

/** Words that were to be answered. */
export interface SaidWords {
  readonly text: string;
  readonly confidence: number;
  /** Whether they are a short voice's that cut the agent off in mid-answer. */
  readonly isSnatch: boolean;
}

/** The caller's current utterance, from the first voice activity to the end of the turn. */
export interface CallerUtterance {
  readonly startedAtMs: number;
  /** When the newest stretch of voice began. */
  readonly stretchAtMs: number;
  readonly isSpeaking: boolean;
  readonly lastVoicedAtMs: number;
  /** Voiced time so far, without the stretch in progress. */
  readonly speechMs: number;
  /** How loud that was. */
  readonly level: SpokenLevel;
  /** Number of the newest transcription asked for. */
  readonly attempt: number;
  readonly isTranscribing: boolean;
  /** When the silence was long enough, with only the words missing; null before. */
  readonly overAtMs: number | null;
  /** Null until transcribed, and again as soon as the caller goes on. */
  readonly words: Words | null;
  /** Latest interim result. */
  readonly interimText: string;
  /** Interim request in progress. */
  readonly interim: { readonly attempt: number; readonly askedAtMs: number } | null;
  /** True when the recogniser is too busy for interim results. */
  readonly isInterimOff: boolean;
  /** Turn model's score of the last pause: chance that the turn is over; null until known. */
  readonly score: { readonly probability: number; readonly atMs: number } | null;
  readonly speculations: number;
  /** How long the agent took to fall silent, when this utterance interrupted it. */
  readonly bargeInMs: number | null;
  /** Reply that this utterance interrupted; null for none. */
  readonly cutOff: CutOff | null;
  /** Beginning of the greeting, which answers the words before it; null where it did not begin in this utterance. */
  readonly greetedAtMs: number | null;
}

/** A reply that the caller's voice has cut off. */
export interface CutOff {
  readonly kind: ReplyKind;
  /** Its clauses from the one on that was cut; empty where the model had more to say or to do. */
  readonly rest: readonly string[];
}

/** Reason for a reply. */
export type ReplyKind = 'greeting' | 'answer' | 'check-in' | 'apology' | 'closing';

/**
 * `speculative`: begun before the caller's turn was over. `held`: kept back because the caller speaks again.
 * `released`: may be heard as soon as there is audio. `playing` and `paused`: has been heard.
 */
export type ReplyStage = 'speculative' | 'held' | 'released' | 'playing' | 'paused';

/** One utterance of the agent: its clauses, playout and tool calls. */
export interface Reply {
  readonly id: number;
  readonly kind: ReplyKind;
  readonly stage: ReplyStage;
  /** The caller's words that a speculative answer belongs to. */
  readonly forText: string;
  readonly pieces: readonly Piece[];
  readonly isModelDone: boolean;
  /** Whether the audio stream knows that no more is to come. */
  readonly isFinished: boolean;
  /** Tool calls that have not been done, in order. */
  readonly calls: readonly ToolCall[];
  /** Whether the first of `calls` is being done. */
  readonly isToolRunning: boolean;
  /** Clauses kept back until it is known whether the caller has to be asked first. */
  readonly held: readonly string[];
  /** When a wait of this reply, for a tool or for the model, was bridged last; null while none was. */
  readonly bridgedAtMs: number | null;
  /** Whether the tool that runs has been bridged. */
  readonly isToolBridged: boolean;
  /** How often the model was asked for this reply. */
  readonly rounds: number;
  /** Sources of the passages that the model was given for this reply. */
  readonly sources: readonly PassageSource[];
  /** Tool calls and their results, as the model is to see them again. */
  readonly exchange: readonly ChatMessage[];
  /** When its first packet left; null before. */
  readonly startedAtMs: number | null;
  /** Instant at which playout would have begun without pauses. */
  readonly playingSinceMs: number;
  /** Audio played, as last reported. */
  readonly playedMs: number;
  readonly firstTokenAtMs: number | null;
  readonly firstClauseAtMs: number | null;
  readonly firstAudioAtMs: number | null;
  /** End of the conversation once this reply was heard; null to go on. */
  readonly after: ConversationEnd | null;
}

/** The last turn of the caller, for `TurnTimes`. */
export interface EndedTurn {
  readonly turn: number;
  readonly lastVoicedAtMs: number;
  readonly endOfTurnAtMs: number;
  readonly textFinalAtMs: number;
  readonly turnScoredAtMs: number | null;
  /** Whether its answer had been begun before the turn was over. */
  readonly isSpeculated: boolean;
  readonly bargeInMs: number | null;
  /** Whether it was pressed on telephone keys; then `lastVoicedAtMs` is the last key's. */
  readonly isKeyed: boolean;
}

/** The whole state of the turn machine; immutable. */
export interface TurnState {
  readonly rules: TurnRules;
  /**
   * `screening`: the agent listens to the callee, and is silent. `closing`: the last sentence is being said, and the caller
   * cannot interrupt it.
   */
  readonly stage: 'waiting' | 'screening' | 'open' | 'closing' | 'over';
  readonly turns: number;
  readonly utterance: CallerUtterance | null;
  readonly reply: Reply | null;
  readonly lastReplyId: number;
  readonly lastAttempt: number;
  /** Messages said and heard, oldest first. */
  readonly history: readonly ChatMessage[];
  /** Caller's messages while the agent kept the floor; they come after the reply in the history. */
  readonly waiting: readonly ChatMessage[];
  /** Whether the caller's last words still need an answer. */
  readonly isOwedAnswer: boolean;
  /** Caller's last words that were to be answered; null before any. */
  readonly lastWords: SaidWords | null;
  /** Calls that the caller was asked about, at the end of that turn, instead of carrying them out. */
  readonly unconfirmed: { readonly calls: readonly ToolCall[]; readonly turn: number } | null;
  /** A backchannel of the caller that did not stop the agent. */
  readonly aside: Words | null;
  /** DTMF digits of the open entry. */
  readonly digits: string;
  /** When the newest of them was pressed; 0 before the first. */
  readonly lastKeyAtMs: number;
  /** This caller's usual pause inside a turn; 0 until one was heard. */
  readonly typicalPauseMs: number;
  /** This caller's usual pause between the parts of a dictation; 0 until one was heard. */
  readonly dictationPauseMs: number;
  /** How loud this caller's turns are. */
  readonly usualLevel: SpokenLevel;
  /** Pauses of playout in a row that no voice was behind. */
  readonly falsePauses: number;
  /** When the newest of them was noticed; 0 before the first. */
  readonly lastFalsePauseAtMs: number;
  readonly hasCheckedIn: boolean;
  /** Whether a transfer is in progress and the caller waits. */
  readonly isTransferPending: boolean;
  /** Whether the far end has put the call on hold: nothing is heard or played. */
  readonly isOnHold: boolean;
  /** Whether a third party is on the call (three-way call). */
  readonly hasThirdParty: boolean;
  /** Clear sentences of the caller in a row of which the recogniser made no words. */
  readonly unclearTurns: number;
  /** Engine failures in a row. */
  readonly failures: number;
  /** When the caller's voice was last heard in their newest turn; null before the first, and after one of keys. */
  readonly lastTurnVoicedAtMs: number | null;
  /** Not yet reported turn. */
  readonly endedTurn: EndedTurn | null;
  readonly speculationHits: number;
  readonly speculationMisses: number;
}

/** A state on its way to the next one. Lives for the length of one event. */
export interface Draft {
  state: TurnState;
  readonly effects: TurnEffect[];
}

/** State of a conversation that has not started. @param before the conversation that it continues. */
export function openState(rules: TurnRules, before?: ConversationSoFar): TurnState {
  return {
    rules,
    stage: 'waiting',
    turns: before?.turns ?? 0,
    utterance: null,
    reply: null,
    lastReplyId: before?.lastReplyId ?? 0,
    lastAttempt: 0,
    history: before?.history ?? [],
    waiting: [],
    isOwedAnswer: false,
    lastWords: null,
    unconfirmed: null,
    aside: null,
    digits: '',
    lastKeyAtMs: 0,
    typicalPauseMs: 0,
    dictationPauseMs: 0,
    usualLevel: LEVEL_UNKNOWN,
    falsePauses: 0,
    lastFalsePauseAtMs: 0,
    hasCheckedIn: false,
    isTransferPending: false,
    isOnHold: false,
    hasThirdParty: false,
    unclearTurns: 0,
    failures: 0,
    lastTurnVoicedAtMs: null,
    endedTurn: null,
    speculationHits: 0,
    speculationMisses: 0,
  };
}

/** Sets fields of the state. */
export function change(draft: Draft, patch: Partial<TurnState>): void {
  draft.state = { ...draft.state, ...patch };
}

/** Changes the current reply; does nothing without one. */
export function changeReply(draft: Draft, patch: Partial<Reply>): void {
  const { reply } = draft.state;
  if (reply !== null) change(draft, { reply: { ...reply, ...patch } });
}

/** Changes the current utterance; does nothing without one. */
export function changeUtterance(draft: Draft, patch: Partial<CallerUtterance>): void {
  const { utterance } = draft.state;
  if (utterance !== null) change(draft, { utterance: { ...utterance, ...patch } });
}

/** Adds effects, to be run in this order. */
export function act(draft: Draft, ...effects: readonly TurnEffect[]): void {
  draft.effects.push(...effects);
}

/** Whether the agent has the floor: it speaks, or is about to. */
export function isAgentsFloor(reply: Reply | null): reply is Reply {
  return reply !== null && reply.stage !== 'speculative';
}

/** Reports the last ended turn if its answer is the current reply and it has not been reported. */
export function reportTurn(draft: Draft): void {
  const { endedTurn, reply } = draft.state;
  if (endedTurn === null || !isAgentsFloor(reply) || reply.kind !== 'answer') return;
  // A reply that may not be interrupted is still being heard: the answer to this turn comes after it.
  if (reply.startedAtMs !== null && reply.startedAtMs < endedTurn.lastVoicedAtMs) return;
  change(draft, { endedTurn: null });
  const isFillerFirst = reply.pieces[0]?.isBridge === true;
  act(draft, {
    kind: 'emit',
    event: { kind: 'turn', times: timesOf(endedTurn, reply, isFillerFirst) },
  });
}

function timesOf(turn: EndedTurn, reply: Reply, isFillerFirst: boolean): TurnTimes {
  const since = (atMs: number | null) =>
    atMs === null ? undefined : Math.max(0, atMs - turn.lastVoicedAtMs);
  const spans = {
    endOfTurnMs: since(turn.endOfTurnAtMs),
    textFinalMs: since(turn.textFinalAtMs),
    turnScoredMs: since(turn.turnScoredAtMs),
    firstTokenMs: since(reply.firstTokenAtMs),
    firstClauseMs: since(reply.firstClauseAtMs),
    firstAudioMs: since(reply.firstAudioAtMs),
    firstPacketMs: since(reply.startedAtMs),
    bargeInMs: turn.bargeInMs ?? undefined,
  };
  const known = Object.entries(spans).filter(([, value]) => value !== undefined);
  return {
    turn: turn.turn,
    ...Object.fromEntries(known),
    speculated: turn.isSpeculated,
    ...(isFillerFirst ? { filler: true } : {}),
    ...(turn.isKeyed ? { keyed: true } : {}),
  };
}

/** Counts a speculative answer as used or discarded, and emits the event that the metrics read. */
export function countSpeculation(draft: Draft, outcome: 'hit' | 'miss'): void {
  const { speculationHits, speculationMisses } = draft.state;
  change(
    draft,
    outcome === 'hit'
      ? { speculationHits: speculationHits + 1 }
      : { speculationMisses: speculationMisses + 1 },
  );
  act(draft, { kind: 'emit', event: { kind: 'speculation', outcome } });
}
