/** Transfer limits per call and per agent, and who may transfer. */
import { expect, test } from 'vitest';
import {
  refusalOfTransfer,
  type TransferAsker,
  TransferCap,
  type TransferRefusal,
} from '../../src/call/session/transfer-cap.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const NOON_MS = Date.UTC(2026, 10, 20, 12);

function openCap() {
  const clock = new FakeClock(NOON_MS);
  return { clock, cap: new TransferCap({ clock }) };
}

test.each<[object, TransferRefusal | undefined, TransferRefusal | undefined]>([
  [{}, undefined, undefined],
  [{ madeInCall: 1 }, 'made', undefined],
  [{ triedInCall: 2 }, undefined, undefined],
  [{ triedInCall: 3 }, 'had-its-attempts', undefined],
  [{ triedToday: 199 }, undefined, undefined],
  [{ triedToday: 200 }, 'too-many-today', 'too-many-today'],
])('refusalOfTransfer: after %o the agent is told %s, a customer %s', (counts, agents, customers) => {
  const all = { madeInCall: 0, triedInCall: 0, triedToday: 0, ...counts };

  expect(refusalOfTransfer(all, 'agent')).toBe(agents);
  expect(refusalOfTransfer(all, 'customer')).toBe(customers);
  expect(refusalOfTransfer(all, 'far-end')).toBe(agents === 'made' ? undefined : agents);
});

test('CallTransfers lets the agent hand a call over once', () => {
  const call = openCap().cap.ofCall('agent_1');

  const first = call.begin('agent');
  call.made();

  expect([first, call.begin('agent')]).toEqual([undefined, 'made']);
});

test('CallTransfers counts what a customer has tried among the three attempts of a call', () => {
  const call = openCap().cap.ofCall('agent_1');

  const answers = (['customer', 'agent', 'customer', 'agent', 'customer'] as const).map((asker) =>
    call.begin(asker),
  );

  expect(answers).toEqual([undefined, undefined, undefined, 'had-its-attempts', undefined]);
});

test.each<TransferAsker>([
  'agent',
  'customer',
])('TransferCap lets an %s try 200 times a UTC day on calls of one agent, and again the next', (asker) => {
  const { cap, clock } = openCap();

  const answers = Array.from({ length: 250 }, () => cap.ofCall('agent_1').begin(asker));
  const ofAnother = cap.ofCall('agent_2').begin(asker);
  clock.advance(12 * 3_600_000);
  const tomorrow = cap.ofCall('agent_1').begin(asker);

  expect(answers.filter((answer) => answer === undefined)).toHaveLength(200);
  expect(answers.at(-1)).toBe('too-many-today');
  expect([ofAnother, tomorrow]).toEqual([undefined, undefined]);
});

test('TransferCap counts the agent and customers together', () => {
  const { cap } = openCap();

  for (let call = 0; call < 100; call += 1) {
    cap.ofCall('agent_1').begin('agent');
    cap.ofCall('agent_1').begin('customer');
  }

  expect(cap.ofCall('agent_1').begin('agent')).toBe('too-many-today');
});
