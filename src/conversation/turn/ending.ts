/** How a conversation ends: a last sentence that nobody interrupts, and then the end; pure */

import type { ConversationEnd } from '../conversation-port.ts';
import { dropReply, sayPhrase } from '../reply/reply.ts';
import { emitCallersWords } from './barge-in.ts';
import { forgetUtterance } from './listening.ts';
import { act, change, type Draft } from './turn-state.ts';

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

/** Stops everything without a reason of our own: the call is over. What was heard is kept. */
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
