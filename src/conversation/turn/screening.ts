/** The agent's silence while it listens to who has answered an outgoing call, and the message for a machine; pure */
import { dropReply } from '../reply/reply.ts';
import { closeWith, limitDuration } from './ending.ts';
import type { TurnEventOf } from './turn-event.ts';
import { act, change, changeUtterance, type Draft } from './turn-state.ts';

/** Listens without a word. */
export function beginScreening(draft: Draft): void {
  limitDuration(draft);
  change(draft, { stage: 'screening' });
  act(draft, { kind: 'set-pause-after', voiceMs: null });
}

/** Stops the greeting, if it has begun, and listens to the machine; what it says needs no answer. */
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

/** The message is heard whole: nothing that the machine does stops it. */
export function onMessageDue(draft: Draft, event: TurnEventOf<'message-due'>): void {
  const { messageMsMax } = draft.state.rules.timing;
  closeWith(draft, event.text, { kind: 'agent-hangup' }, event.atMs, messageMsMax);
}
