/** End of the caller's turn: endpointing timer, speculation during the wait, next steps; pure */
import { dictationIn } from '../endpointing/dictation.ts';
import {
  COMPLETENESS_UNKNOWN,
  completenessOf,
  forgetSomePause,
  isQuestion,
  silenceRequiredMs,
} from '../endpointing/endpointing.ts';
import { addToHistory, beginReply, dropReply, sayClauses, sayPhrase } from '../reply/reply.ts';
import { askModel } from './answering.ts';
import { learnLevel } from './backchannel.ts';
import { emitCallersWords } from './barge-in.ts';
import { forgetUtterance, requestWords } from './caller-utterance.ts';
import { askAgain, isUnclearSentence } from './not-understood.ts';
import type { TurnEventOf } from './turn-event.ts';
import {
  act,
  type CallerUtterance,
  change,
  changeUtterance,
  countSpeculation,
  type Draft,
  isAgentsFloor,
  type TurnState,
  type Words,
} from './turn-state.ts';
import { confirmedCalls, isSnatched } from './unsure-words.ts';

/** Waits for the end of the turn without knowing more of the words than was made out while they were spoken. */
export function planEndOfTurn(draft: Draft, atMs: number): void {
  if (!awaitUnknown(draft, atMs)) onEndOfTurnTimer(draft, atMs);
}

/**
 * After words of a pause could not be had: the caller may only have paused, and is not to be talked over. At the end of the turn
 * all of its words are asked for once more.
 *
 * @returns false where the turn is over already.
 */
export function awaitDespiteFailure(draft: Draft, atMs: number): boolean {
  const { utterance } = draft.state;
  if (utterance === null || utterance.overAtMs !== null) return false;
  changeUtterance(draft, { isTranscribing: false });
  return awaitUnknown(draft, atMs);
}

/** @returns whether the turn may still go on. */
function awaitUnknown(draft: Draft, atMs: number): boolean {
  const { utterance } = draft.state;
  if (utterance === null) return true;
  const requiredMs = requiredSilenceMs(draft.state, utterance, null);
  return setEndOfTurn(draft, utterance, requiredMs, atMs) > 0;
}

/** Recomputes the endpointing wait from the turn model's score; a score of an earlier pause is ignored. */
export function onTurnScored(draft: Draft, event: TurnEventOf<'turn-scored'>): void {
  const { utterance, rules } = draft.state;
  if (utterance === null || utterance.isSpeaking) return;
  if (event.lastVoicedAtMs !== utterance.lastVoicedAtMs) return;
  changeUtterance(draft, { score: { probability: event.probability, atMs: event.atMs } });
  const scored = draft.state.utterance;
  if (scored === null || scored.overAtMs !== null || isAgentsFloor(draft.state.reply)) return;
  if (scored.words !== null) awaitEnd(draft, scored, scored.words, event.atMs);
  else if (!rules.maySpeculate && !scored.isTranscribing) planEndOfTurn(draft, event.atMs);
}

/** The silence is long enough: the turn is over as soon as its words are known. */
export function onEndOfTurnTimer(draft: Draft, atMs: number): void {
  const { utterance } = draft.state;
  if (utterance === null || utterance.isSpeaking) return;
  if (utterance.words !== null) {
    endTurn(draft, utterance, utterance.words, atMs);
  } else if (!utterance.isTranscribing) {
    changeUtterance(draft, { overAtMs: atMs });
    requestWords(draft, 'final');
  }
}

/** Takes words that were said before the greeting, which is the answer to them. @returns false where there are none such. */
export function takeGreetedWords(draft: Draft, words: Words): boolean {
  const { turns, utterance } = draft.state;
  const greetedAtMs = utterance?.greetedAtMs ?? null;
  if (utterance === null || greetedAtMs === null || utterance.lastVoicedAtMs > greetedAtMs)
    return false;
  if (words.text !== '') {
    addCallersWords(draft, words);
    change(draft, { turns: turns + 1 });
  }
  forgetUtterance(draft);
  return true;
}

/** Takes the words of a pause, ends the turn if the silence is long enough for them, or prepares for it. */
export function takeWords(draft: Draft, words: Words): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  if (words.text === '') {
    takeNothing(draft, utterance, words);
    return;
  }
  changeUtterance(draft, { words });
  if (utterance.overAtMs !== null) {
    endTurn(draft, utterance, words, words.atMs);
    return;
  }
  if (!awaitEnd(draft, utterance, words, words.atMs)) speculate(draft, utterance, words);
}

/** @returns whether the turn is over already. */
function awaitEnd(draft: Draft, utterance: CallerUtterance, words: Words, atMs: number): boolean {
  const requiredMs = requiredSilenceMs(draft.state, utterance, words.text);
  const isOver = setEndOfTurn(draft, utterance, requiredMs, atMs) <= 0;
  if (isOver) endTurn(draft, utterance, words, atMs);
  return isOver;
}

function takeNothing(draft: Draft, utterance: CallerUtterance, words: Words): void {
  const { cutOff, overAtMs } = utterance;
  const isUnclear = cutOff === null && isUnclearSentence(draft.state, words);
  if (isUnclear && overAtMs === null) {
    // The caller may go on, and the recogniser tries harder for all of it.
    planEndOfTurn(draft, words.atMs);
    return;
  }
  forgetUtterance(draft);
  if (isUnclear) askAgain(draft, words.atMs);
  // The agent has stopped for a noise; saying nothing now would leave both waiting.
  if (cutOff === null || draft.state.reply !== null) return;
  if (cutOff.rest.length > 0) sayClauses(draft, cutOff.kind, cutOff.rest);
  else sayPhrase(draft, 'apology', draft.state.rules.phrases.notUnderstood);
}

/** @param text the words; null while they are not known. */
function requiredSilenceMs(
  state: TurnState,
  utterance: CallerUtterance,
  text: string | null,
): number {
  const { rules, typicalPauseMs, dictationPauseMs } = state;
  const dictation = dictationIn(state, text ?? utterance.interimText);
  const pause = {
    completeness: text === null ? COMPLETENESS_UNKNOWN : completenessOf(text),
    isQuestion: text !== null && isQuestion(text),
    turnProbability: utterance.score?.probability ?? null,
    turnTrust: rules.turnTrust,
    dictation,
    typicalPauseMs: dictation === null ? typicalPauseMs : dictationPauseMs,
  };
  return silenceRequiredMs(pause, rules.timing);
}

/** @returns silence still required, in milliseconds; not positive when it was long enough. */
function setEndOfTurn(
  draft: Draft,
  utterance: CallerUtterance,
  silenceMs: number,
  atMs: number,
): number {
  const restMs = utterance.lastVoicedAtMs + silenceMs - atMs;
  if (restMs > 0) act(draft, { kind: 'set-timer', timer: 'end-of-turn', delayMs: restMs });
  return restMs;
}

function speculate(draft: Draft, utterance: CallerUtterance, words: Words): void {
  const { state } = draft;
  const { timing, maySpeculate } = state.rules;
  const isWorthIt =
    maySpeculate &&
    state.stage === 'open' &&
    state.reply === null &&
    state.digits === '' &&
    utterance.speculations < timing.speculationsMax &&
    utterance.speechMs <= timing.speculationSpeechMsMax &&
    // A "yes" to a question for confirmation needs no model.
    confirmedCalls(state, { text: words.text, turn: state.turns + 1 }).length === 0 &&
    // The dictation is not complete: the answer would be about half a number.
    dictationIn(state, words.text)?.progress !== 'begun';
  if (!isWorthIt) return;
  changeUtterance(draft, { speculations: utterance.speculations + 1 });
  beginReply(draft, { kind: 'answer', stage: 'speculative', forText: words.text });
  askModel(draft, [{ role: 'user', content: words.text }]);
}

function endTurn(draft: Draft, utterance: CallerUtterance, words: Words, atMs: number): void {
  if (takeGreetedWords(draft, words)) return;
  addCallersWords(draft, words);
  forgetUtterance(draft);
  settleSpeculation(draft, words.text, atMs);
  const turn = draft.state.turns + 1;
  change(draft, {
    turns: turn,
    isOwedAnswer: true,
    lastWords: { ...words, isSnatch: isSnatched(utterance) },
    typicalPauseMs: forgetSomePause(draft.state.typicalPauseMs),
    lastTurnVoicedAtMs: utterance.lastVoicedAtMs,
    usualLevel: learnLevel(draft.state.usualLevel, utterance.level),
    endedTurn: {
      turn,
      lastVoicedAtMs: utterance.lastVoicedAtMs,
      endOfTurnAtMs: utterance.overAtMs ?? atMs,
      textFinalAtMs: words.atMs,
      turnScoredAtMs: utterance.score?.atMs ?? null,
      isSpeculated: draft.state.reply?.stage === 'speculative',
      bargeInMs: utterance.bargeInMs,
      isKeyed: false,
    },
  });
}

function addCallersWords(draft: Draft, words: Words): void {
  emitCallersWords(draft, words.text, words.confidence);
  addToHistory(draft, words.text);
  change(draft, { hasCheckedIn: false, aside: null, unclearTurns: 0 });
}

/** Keeps a speculative answer if it answers the final words. */
function settleSpeculation(draft: Draft, text: string, atMs: number): void {
  const { reply } = draft.state;
  if (reply?.stage !== 'speculative') return;
  if (folded(reply.forText) === folded(text)) {
    countSpeculation(draft, 'hit');
  } else {
    countSpeculation(draft, 'miss');
    dropReply(draft, atMs);
  }
}

function folded(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
