/** How a conversation ends: longest duration, closing sentence, silence, hang-up, or the message for a machine that answered; pure */
import type { ConversationEnd } from '../conversation-port.ts';
import { dropReply, sayPhrase } from '../reply/reply.ts';
import { emitCallersWords } from './barge-in.ts';
import { forgetUtterance } from './caller-utterance.ts';
import type { TurnEventOf } from './turn-event.ts';
import { act, change, changeUtterance, type Draft, type TurnState } from './turn-state.ts';

/** Enough for the whole sentence in the shortest call that can be asked for, of 10 s. */
const TIME_IS_UP_SHARE_MAX = 0.6;

/** Sets the timers of the longest duration, which counts from the answer. */
export function limitDuration(draft: Draft): void {
  const { brief, timing } = draft.state.rules;
  const { maxDurationMs } = brief;
  const leadMs = Math.min(timing.timeIsUpMs, maxDurationMs * TIME_IS_UP_SHARE_MAX);
  act(
    draft,
    { kind: 'set-timer', timer: 'time-is-up', delayMs: maxDurationMs - leadMs },
    { kind: 'set-timer', timer: 'max-duration', delayMs: maxDurationMs - timing.hangUpMs },
  );
}

/**
 * Says a closing sentence to its end, and then ends the conversation.
 *
 * @param msMax time limit; that of a set phrase unless given.
 */
export function closeWith(
  draft: Draft,
  text: string,
  end: ConversationEnd,
  atMs: number,
  msMax = draft.state.rules.timing.closingMsMax,
): void {
  keepWords(draft);
  dropReply(draft, atMs);
  change(draft, { stage: 'closing', digits: '' });
  act(
    draft,
    { kind: 'cancel-timer', timer: 'silence' },
    { kind: 'cancel-timer', timer: 'digits' },
    { kind: 'set-pause-after', voiceMs: null },
    { kind: 'set-timer', timer: 'closing', delayMs: msMax },
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

/** True while neither side speaks, on a call that is not on hold, and no answer, tool, transfer or DTMF entry is pending. */
export function isQuiet(state: TurnState): boolean {
  return (
    state.stage === 'open' &&
    state.reply === null &&
    state.utterance === null &&
    !state.isOwedAnswer &&
    !state.isTransferPending &&
    !state.isOnHold &&
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

/** Listens without a word. */
export function beginScreening(draft: Draft): void {
  limitDuration(draft);
  change(draft, { stage: 'screening' });
  act(draft, { kind: 'set-pause-after', voiceMs: null });
}

/** Stops the greeting, if it has begun, and listens to the machine, whose words need no answer. */
export function onMachineAnswered(draft: Draft, event: TurnEventOf<'machine-answered'>): void {
  dropReply(draft, event.atMs);
  // Otherwise the silence after the machine's words would be taken for a caller who was not understood.
  changeUtterance(draft, { cutOff: null });
  change(draft, { stage: 'screening', isOwedAnswer: false, digits: '' });
  act(
    draft,
    { kind: 'set-pause-after', voiceMs: null },
    { kind: 'cancel-timer', timer: 'silence' },
    { kind: 'cancel-timer', timer: 'digits' },
    { kind: 'cancel-timer', timer: 'barge-in' },
  );
}

/** Says the message to its end: no sound of the machine stops it. */
export function onMessageDue(draft: Draft, event: TurnEventOf<'message-due'>): void {
  const { messageMsMax } = draft.state.rules.timing;
  closeWith(draft, event.text, { kind: 'agent-hangup' }, event.atMs, messageMsMax);
}
