/** Notes to the language model about a third party: three-way call (conference) and failed transfer; pure */
import { noteForModel } from './model-note.ts';
import type { TurnEventOf } from './turn-event.ts';
import { change, type Draft } from './turn-state.ts';

/** Rule for the agent while a third party is on the line: a three-way call, or conference. */
export const THIRD_PARTY_RULE =
  'Answer the person who speaks to you; to what the caller and the other party say to each other, answer with nothing but "…". ' +
  'When they need you no more, say goodbye and use end_call: the two talk on without you.';

const JOINED =
  '(The other party is on the line now: it, the caller and you all hear one another. Introduce the two in a sentence. ' +
  `After that: ${THIRD_PARTY_RULE})`;

const LEFT = '(The other party has hung up. You are alone with the caller again.)';

const RETURNED =
  '(The transfer is over: the other party has hung up. You are alone with the caller again. Say so in a sentence, and ask what else they need.)';

const MOVED =
  '(The caller has transferred the call: another person is on the line now, in the place of the caller. Greet them, say who you ' +
  'are, and go on. Before anything private, ask who they are.)';

const NOT_TRANSFERRED = '(The other party did not take the call. The caller is still with you.)';

/** Tells the model that a third party joined or left; the agent speaks once it has the floor. */
export function onThirdParty(draft: Draft, { isThere, atMs }: TurnEventOf<'third-party'>): void {
  noteForModel(draft, isThere ? JOINED : LEFT, atMs);
  change(draft, { hasThirdParty: isThere });
}

/** Tells the model that another person is on the line in the caller's place. */
export function onFarEndMoved(draft: Draft, { atMs }: TurnEventOf<'far-end-moved'>): void {
  noteForModel(draft, MOVED, atMs);
}

/** Tells the model that a transfer failed after its tool had already answered. */
export function onTransferFailed(draft: Draft, { atMs }: TurnEventOf<'transfer-failed'>): void {
  noteForModel(draft, NOT_TRANSFERRED, atMs);
}

/** Tells the model that the caller is back from a transfer. */
export function onReturn(draft: Draft, atMs: number): void {
  noteForModel(draft, RETURNED, atMs);
}
