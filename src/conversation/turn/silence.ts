/** Silence of both sides: one question whether anybody is there, and then the end; pure */

import { sayPhrase } from '../reply/reply.ts';
import { endNow } from './ending.ts';
import { act, change, type Draft, type TurnState } from './turn-state.ts';

/** Whether nobody speaks and nobody is expected to. */
export function isQuiet(state: TurnState): boolean {
  return (
    state.stage === 'open' &&
    state.reply === null &&
    state.utterance === null &&
    !state.isOwedAnswer &&
    !state.isHandingOver &&
    state.digits === ''
  );
}

/** Starts and stops the wait whenever silence begins or ends. */
export function watchSilence(draft: Draft, wasQuiet: boolean): void {
  const isNowQuiet = isQuiet(draft.state);
  // At the end every wait has been given up already.
  if (isNowQuiet === wasQuiet || draft.state.stage === 'over') return;
  const delayMs = draft.state.rules.brief.silenceTimeoutMs;
  act(
    draft,
    isNowQuiet
      ? { kind: 'set-timer', timer: 'silence', delayMs }
      : { kind: 'cancel-timer', timer: 'silence' },
  );
}

export function onSilence(draft: Draft, atMs: number): void {
  if (!isQuiet(draft.state)) return;
  if (draft.state.hasCheckedIn) {
    endNow(draft, { kind: 'timeout', cause: 'silence' }, atMs);
    return;
  }
  change(draft, { hasCheckedIn: true });
  sayPhrase(draft, 'check-in', draft.state.rules.phrases.checkIn);
}
