/** The end of the caller's turn: how long to wait for it, what to prepare meanwhile, and what follows; pure */
import { askModel } from './answering.ts';
import { emitCallersWords } from './barge-in.ts';
import { completenessOf, isDictating } from './completeness.ts';
import { COMPLETENESS_UNKNOWN, silenceRequiredMs } from './endpointing.ts';
import { forgetUtterance, requestWords } from './listening.ts';
import { addToHistory, beginReply, dropReply, sayPhrase } from './reply.ts';
import {
  act,
  type CallerUtterance,
  change,
  changeUtterance,
  type Draft,
  type TurnState,
  type Words,
} from './turn-state.ts';

/** Waits for the end of the turn without knowing the words. */
export function planEndOfTurn(draft: Draft, atMs: number): void {
  const { utterance, rules, typicalPauseMs } = draft.state;
  if (utterance === null) return;
  const pause = { completeness: COMPLETENESS_UNKNOWN, isDictating: false, typicalPauseMs };
  setEndOfTurn(draft, utterance, silenceRequiredMs(pause, rules.timing), atMs);
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

/** Takes the words of a pause, ends the turn if the silence is long enough for them, or prepares for it. */
export function takeWords(draft: Draft, words: Words): void {
  const { utterance } = draft.state;
  if (utterance === null) return;
  if (words.text === '') {
    takeNothing(draft, utterance);
    return;
  }
  changeUtterance(draft, { words });
  if (utterance.overAtMs !== null) {
    endTurn(draft, utterance, words, words.atMs);
    return;
  }
  const restMs = setEndOfTurn(draft, utterance, requiredMs(draft.state, words.text), words.atMs);
  if (restMs <= 0) endTurn(draft, utterance, words, words.atMs);
  else thinkAhead(draft, utterance, words);
}

function takeNothing(draft: Draft, utterance: CallerUtterance): void {
  forgetUtterance(draft);
  // The agent has stopped for a noise; saying nothing now would leave both waiting.
  if (utterance.bargeInMs !== null && draft.state.reply === null) {
    sayPhrase(draft, 'apology', draft.state.rules.phrases.notUnderstood);
  }
}

function requiredMs(state: TurnState, text: string): number {
  const question = state.history.findLast(({ role }) => role === 'assistant')?.content ?? '';
  const pause = {
    completeness: completenessOf(text),
    isDictating: isDictating(text, question),
    typicalPauseMs: state.typicalPauseMs,
  };
  return silenceRequiredMs(pause, state.rules.timing);
}

/** @returns what is left of the silence; not positive when it has been long enough. */
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

function thinkAhead(draft: Draft, utterance: CallerUtterance, words: Words): void {
  const { state } = draft;
  const { timing, mayThinkAhead } = state.rules;
  const isWorthIt =
    mayThinkAhead &&
    state.reply === null &&
    state.digits === '' &&
    utterance.aheadTries < timing.aheadTriesMax &&
    utterance.speechMs <= timing.aheadSpeechMsMax;
  if (!isWorthIt) return;
  changeUtterance(draft, { aheadTries: utterance.aheadTries + 1 });
  beginReply(draft, { kind: 'answer', stage: 'ahead', forText: words.text });
  askModel(draft, [{ role: 'user', content: words.text }]);
}

function endTurn(draft: Draft, utterance: CallerUtterance, words: Words, atMs: number): void {
  addCallersWords(draft, words);
  forgetUtterance(draft);
  settleAhead(draft, words.text, atMs);
  const turn = draft.state.turns + 1;
  change(draft, {
    turns: turn,
    isOwedAnswer: true,
    endedTurn: {
      turn,
      lastVoicedAtMs: utterance.lastVoicedAtMs,
      endOfTurnAtMs: utterance.overAtMs ?? atMs,
      textFinalAtMs: words.atMs,
      bargeInMs: utterance.bargeInMs,
    },
  });
}

function addCallersWords(draft: Draft, words: Words): void {
  emitCallersWords(draft, words.text, words.confidence);
  addToHistory(draft, words.text);
  change(draft, { hasCheckedIn: false, aside: null });
}

/** Keeps an answer that was begun ahead if it answers what was really said. */
function settleAhead(draft: Draft, text: string, atMs: number): void {
  const { reply, aheadHits, aheadMisses } = draft.state;
  if (reply?.stage !== 'ahead') return;
  if (folded(reply.forText) === folded(text)) {
    change(draft, { aheadHits: aheadHits + 1 });
  } else {
    change(draft, { aheadMisses: aheadMisses + 1 });
    dropReply(draft, atMs);
  }
}

function folded(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
