/** Another party on the line beside the caller: what the agent is told of it; pure */
import { countAhead } from './ahead.ts';
import { addToHistory, dropReply } from './reply.ts';
import type { TurnEventOf } from './turn-event.ts';
import { change, type Draft } from './turn-state.ts';

const JOINED =
  '(The other party is on the line now: it, the caller and you all hear one another. Introduce the two in a sentence. ' +
  'After that answer whoever speaks to you; to what they say to each other, answer with nothing but "…". ' +
  'When they need you no more, say goodbye and use end_call: the two talk on without you.)';

const LEFT = '(The other party has hung up. You are alone with the caller again.)';

/** The agent has something to say about it, once it has the floor. */
export function onCompany(draft: Draft, { isThere, atMs }: TurnEventOf<'company'>): void {
  if (draft.state.reply?.stage === 'ahead') {
    countAhead(draft, 'miss');
    dropReply(draft, atMs);
  }
  addToHistory(draft, isThere ? JOINED : LEFT);
  change(draft, { hasCompany: isThere, isOwedAnswer: true, hasCheckedIn: false });
}
