/** Another party on the line beside the caller, or one that does not come: what the agent is told of it; pure */

import { addToHistory, dropReply } from '../reply/reply.ts';
import { countSpeculation } from './speculation.ts';
import type { TurnEventOf } from './turn-event.ts';
import { change, type Draft } from './turn-state.ts';

/** How the agent behaves as long as the other party is there. */
export const THIRD_PARTY_RULE =
  'Answer whoever speaks to you; to what the caller and the other party say to each other, answer with nothing but "…". ' +
  'When they need you no more, say goodbye and use end_call: the two talk on without you.';

const JOINED =
  '(The other party is on the line now: it, the caller and you all hear one another. Introduce the two in a sentence. ' +
  `After that: ${THIRD_PARTY_RULE})`;

const LEFT = '(The other party has hung up. You are alone with the caller again.)';

const NOT_HANDED_OVER = '(The other party did not take the call. The caller is still with you.)';

/** The agent has something to say about it, once it has the floor. */
export function onThirdParty(draft: Draft, { isThere, atMs }: TurnEventOf<'company'>): void {
  note(draft, isThere ? JOINED : LEFT, atMs);
  change(draft, { hasCompany: isThere });
}

/** As above: the caller waits to hear what came of it. */
export function onTransferFailed(draft: Draft, { atMs }: TurnEventOf<'not-handed-over'>): void {
  note(draft, NOT_HANDED_OVER, atMs);
}

function note(draft: Draft, text: string, atMs: number): void {
  if (draft.state.reply?.stage === 'ahead') {
    countSpeculation(draft, 'miss');
    dropReply(draft, atMs);
  }
  addToHistory(draft, text);
  change(draft, { isOwedAnswer: true, hasCheckedIn: false });
}
