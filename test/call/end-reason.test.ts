import { expect, test } from 'vitest';
import { endReasonOfConversation, endReasonOfRelease } from '../../src/call/session/end-reason.ts';

test.each([
  [486, 'busy'],
  [600, 'busy'],
  [603, 'busy'],
  [408, 'no_answer'],
  [480, 'no_answer'],
  [487, 'no_answer'],
  [404, 'error'],
  [503, 'error'],
])('endReasonOfRelease takes %i of an unanswered leg as %s', (sipStatus, expected) => {
  expect(endReasonOfRelease({ kind: 'unanswered', sipStatus })).toBe(expected);
});

test.each([
  [{ kind: 'far-end' }, 'user_hangup'],
  [{ kind: 'near-end' }, 'agent_hangup'],
  [{ kind: 'transferred' }, 'transferred'],
  [{ kind: 'broken', reason: 'no packets' }, 'error'],
] as const)('endReasonOfRelease takes %o as %s', (cause, expected) => {
  expect(endReasonOfRelease(cause)).toBe(expected);
});

test.each([
  [{ kind: 'agent-hangup' }, 'agent_hangup'],
  [{ kind: 'timeout', cause: 'silence' }, 'timeout'],
  [{ kind: 'timeout', cause: 'max-duration' }, 'timeout'],
  [{ kind: 'transferred' }, 'transferred'],
  [{ kind: 'failed', reason: 'no model' }, 'error'],
] as const)('endReasonOfConversation takes %o as %s', (end, expected) => {
  expect(endReasonOfConversation(end)).toBe(expected);
});
