/** How a conversation ends: closing sentence, silence timeout, and the notes of a three-way call (conference); pure */
import type { ConversationEnd } from '../conversation-port.ts';
import { addToHistory, dropReply, sayPhrase } from '../reply/reply.ts';
import { emitCallersWords } from './barge-in.ts';
import { forgetUtterance } from './caller-utterance.ts';
import { countSpeculation } from './transcription-request.ts';
import type { TurnEventOf } from './turn-event.ts';
import { act, change, type Draft, type TurnState } from './turn-state.ts';

/** Says a closing sentence to its end, and then ends the conversation. */
export function closeWith(draft: Draft, text: string, end: ConversationEnd, atMs: number): void {
  keepWords(draft);
  dropReply(draft, atMs);
  change(draft, { stage: 'closing', digits: '' });
  const delayMs = draft.state.rules.timing.closingMsMax;
  act(
    draft,
    { kind: 'cancel-timer', timer: 'silence' },
    { kind: 'cancel-timer', timer: 'digits' },
    { kind: 'set-interruptible', isInterruptible: false },
    { kind: 'set-timer', timer: 'closing', delayMs },
  );
  sayPhrase(draft, 'closing', text, end);
}

/** Ends the conversation now. */
export function endNow(draft: Draft, end: ConversationEnd, atMs: number): void {
  stopNow(draft, atMs);
  act(draft, { kind: 'emit', event: { kind: 'ended', end } });
}

/** Stops everything because the call is over; known words go into the transcript. */
export function stopNow(draft: Draft, atMs: number): void {
  keepWords(draft);
  dropReply(draft, atMs);
  change(draft, { stage: 'over' });
  act(draft, { kind: 'close' });
}

/** Words that are known go into the transcript, although their turn is not over. */
function keepWords(draft: Draft): void {
  const words = draft.state.utterance?.words;
  if (words && words.text !== '') emitCallersWords(draft, words.text, words.confidence);
  forgetUtterance(draft);
}

/** Rule for the agent while a third party is on the line: a three-way call, or conference. */
export const THIRD_PARTY_RULE =
  'Answer whoever speaks to you; to what the caller and the other party say to each other, answer with nothing but "…". ' +
  'When they need you no more, say goodbye and use end_call: the two talk on without you.';

const JOINED =
  '(The other party is on the line now: it, the caller and you all hear one another. Introduce the two in a sentence. ' +
  `After that: ${THIRD_PARTY_RULE})`;

const LEFT = '(The other party has hung up. You are alone with the caller again.)';

const NOT_HANDED_OVER = '(The other party did not take the call. The caller is still with you.)';

/** Tells the model that a third party joined or left; the agent speaks once it has the floor. */
export function onThirdParty(draft: Draft, { isThere, atMs }: TurnEventOf<'third-party'>): void {
  note(draft, isThere ? JOINED : LEFT, atMs);
  change(draft, { hasThirdParty: isThere });
}

/** Tells the model that a transfer failed after its tool had already answered. */
export function onTransferFailed(draft: Draft, { atMs }: TurnEventOf<'transfer-failed'>): void {
  note(draft, NOT_HANDED_OVER, atMs);
}

function note(draft: Draft, text: string, atMs: number): void {
  if (draft.state.reply?.stage === 'speculative') {
    countSpeculation(draft, 'miss');
    dropReply(draft, atMs);
  }
  addToHistory(draft, text);
  change(draft, { isOwedAnswer: true, hasCheckedIn: false });
}

/** True while neither side speaks and no answer, tool, transfer or DTMF entry is pending. */
export function isQuiet(state: TurnState): boolean {
  return (
    state.stage === 'open' &&
    state.reply === null &&
    state.utterance === null &&
    !state.isOwedAnswer &&
    !state.isTransferPending &&
    state.digits === ''
  );
}

/** Starts or cancels the silence timer when silence begins or ends. */
export function watchSilence(draft: Draft, wasQuiet: boolean): void {
  const isNowQuiet = isQuiet(draft.state);
  if (isNowQuiet === wasQuiet || draft.state.stage === 'over') return;
  const delayMs = draft.state.rules.brief.silenceTimeoutMs;
  act(
    draft,
    isNowQuiet
      ? { kind: 'set-timer', timer: 'silence', delayMs }
      : { kind: 'cancel-timer', timer: 'silence' },
  );
}

/** Silence timeout: the first asks whether the caller is there, the second ends the call. */
export function onSilence(draft: Draft, atMs: number): void {
  if (!isQuiet(draft.state)) return;
  if (draft.state.hasCheckedIn) {
    endNow(draft, { kind: 'timeout', cause: 'silence' }, atMs);
    return;
  }
  change(draft, { hasCheckedIn: true });
  sayPhrase(draft, 'check-in', draft.state.rules.phrases.checkIn);
}
