/** What the live view shows after each event of the stream. */
import { expect, test } from 'vitest';
import type { CallCommon } from '../../src/dashboard/api-types.ts';
import { afterEvent, type LiveState, NOTHING_LIVE } from '../../src/dashboard/live-state.ts';

function call(id: string, status: CallCommon['status'] = 'in_progress'): CallCommon {
  return {
    id,
    agentId: 'agent_1',
    direction: 'inbound',
    status,
    from: '+12025550100',
    to: '+12025550123',
    durationSeconds: 0,
    startedAt: '2026-11-21T08:00:00.000Z',
    endedAt: null,
    answeredAt: null,
    answeredBy: null,
    endReason: null,
    failureReason: null,
    sipStatus: null,
    cost: null,
    sentiment: null,
    intentDetected: null,
  };
}

function after(...events: readonly (readonly [event: string, data: unknown])[]): LiveState {
  return events.reduce(
    (state, [event, data]) => afterEvent(state, { event, data: JSON.stringify(data) }),
    NOTHING_LIVE,
  );
}

const said = (callId: string, role: string, text: string) =>
  ['said', { callId, entry: { role, text, timestamp: '2026-11-21T08:00:01.000Z' } }] as const;

test('words follow each other, and what was heard gives way to what was said', () => {
  const state = after(
    ['snapshot', { calls: [call('a')], queuedCalls: 2 }],
    said('a', 'agent', 'Hello'),
    ['hearing', { callId: 'a', text: 'I wou' }],
    said('a', 'user', 'I would like'),
  );

  expect(state.queuedCalls).toBe(2);
  expect(state.calls[0]?.transcript.map(({ text }) => text)).toEqual(['Hello', 'I would like']);
  expect(state.calls[0]?.hearing).toBe('');
});

test('what is being heard stays while the agent speaks', () => {
  const state = after(
    ['snapshot', { calls: [call('a')], queuedCalls: 0 }],
    ['hearing', { callId: 'a', text: 'wait' }],
    said('a', 'agent', 'As I said'),
  );

  expect(state.calls[0]?.hearing).toBe('wait');
});

test('a call that ends keeps its words and goes behind those that go on', () => {
  const state = after(
    ['snapshot', { calls: [call('a'), call('b')], queuedCalls: 0 }],
    said('a', 'agent', 'Bye'),
    ['call', call('a', 'completed')],
  );

  expect(state.calls.map(({ id }) => id)).toEqual(['b', 'a']);
  expect(state.calls[1]?.transcript).toHaveLength(1);
});

test('no more than ten ended calls stay', () => {
  const ended = Array.from(
    { length: 15 },
    (_, index) => ['call', call(`c${index}`, 'failed')] as const,
  );

  const state = after(['snapshot', { calls: [], queuedCalls: 0 }], ...ended);

  expect(state.calls).toHaveLength(10);
  expect(state.calls[0]?.id).toBe('c14');
});

test('a new snapshot keeps the words of calls that still go on', () => {
  const snapshot = ['snapshot', { calls: [call('a')], queuedCalls: 0 }] as const;

  const state = after(snapshot, said('a', 'agent', 'Hello'), snapshot);

  expect(state.calls[0]?.transcript).toHaveLength(1);
});

test('events of unknown kinds and of unknown calls change nothing', () => {
  const state = after(said('x', 'agent', 'Hello'), ['timeline', {}], ['other', {}]);

  expect(state.calls).toEqual([]);
});
