/** Interim results: transcribes while the caller still speaks, for the live view and for barge-in; pure */
import { contentWords } from '../turn/backchannel.ts';
import { interrupt, wantsFloor } from '../turn/barge-in.ts';
import {
  act,
  change,
  changeUtterance,
  type Draft,
  isAgentsFloor,
  type Words,
} from '../turn/turn-state.ts';

/** This many content words take the floor from the agent, where the voice so far is no murmur. */
const CLAIM_WORDS = 2;

/** Requests an interim result, unless the caller has stopped or the previous request is in progress. */
export function onInterimTimer(draft: Draft, atMs: number): void {
  const { utterance } = draft.state;
  if (!utterance?.isSpeaking || utterance.interim !== null) return;
  const attempt = draft.state.lastAttempt + 1;
  change(draft, { lastAttempt: attempt });
  changeUtterance(draft, { interim: { attempt, askedAtMs: atMs } });
  act(draft, { kind: 'transcribe', attempt, priority: 'partial' });
}

/** Applies an interim result. */
export function takeInterimResult(draft: Draft, words: Words): void {
  const { text, atMs } = words;
  const { utterance } = draft.state;
  if (utterance === null || utterance.interim === null) return;
  const tookMs = atMs - utterance.interim.askedAtMs;
  changeUtterance(draft, { interim: null, interimText: text });
  if (text !== '' && text !== utterance.interimText) {
    act(draft, { kind: 'emit', event: { kind: 'hearing', text } });
  }
  lookAgain(draft, tookMs);
  const { reply } = draft.state;
  const isClaim = contentWords(text) >= CLAIM_WORDS && wantsFloor(draft.state, words);
  if (isAgentsFloor(reply) && isClaim) interrupt(draft, atMs);
}

/** A failed request: the recogniser is busy with other calls. */
export function failInterimResult(draft: Draft): void {
  changeUtterance(draft, { interim: null, isInterimOff: true });
}

/** At least as long as the last look took, so that the recogniser has half its time for others. */
function lookAgain(draft: Draft, tookMs: number): void {
  const { interimMs, interimTookMsMax } = draft.state.rules.timing;
  if (tookMs > interimTookMsMax) {
    changeUtterance(draft, { isInterimOff: true });
  } else if (draft.state.utterance?.isSpeaking) {
    const delayMs = Math.max(tookMs, interimMs - tookMs);
    act(draft, { kind: 'set-timer', timer: 'partial', delayMs });
  }
}
