/** How often the queue is read, and what it knows of its order. */
import { expect, test } from 'vitest';
import { OutboundQueue } from '../../src/call/outbound/outbound-queue.ts';
import type { WaitingParty } from '../../src/domain/call/call.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

async function openQueue(count: number) {
  const clock = new FakeClock(1_000_000);
  const calls: WaitingParty[] = [];
  const world = { clock, calls, loads: 0 };
  const add = (from = '+15550100001') => {
    const window = { notBeforeAt: null, notAfterAt: null, expiresAt: null };
    const parties = { accountId: 'acct_1', from, to: '+15550100005' };
    calls.push({ id: `call_${calls.length}`, ...parties, failureReason: null, ...window });
  };
  for (let index = 0; index < count; index += 1) add();
  const queue = new OutboundQueue({
    load: async (limit) => {
      world.loads += 1;
      return calls.slice(0, limit);
    },
    trunkOf: (from) => (from.endsWith('9') ? undefined : `trunk ${from.at(-1)}`),
    clock,
  });
  queue.hasMore();
  await queue.refresh();
  return Object.assign(world, { queue, add });
}

test('OutboundQueue reads nothing while nothing was added', async () => {
  const world = await openQueue(3);

  world.clock.advance(60_000);
  await world.queue.refresh();

  expect(world.loads).toBe(1);
});

test('OutboundQueue reads a short queue at every addition', async () => {
  const world = await openQueue(3);

  world.add();
  world.queue.hasMore();
  await world.queue.refresh();

  expect(world.queue.waiting().map(({ callId }) => callId)).toEqual(
    [0, 1, 2, 3].map((n) => `call_${n}`),
  );
});

test('OutboundQueue reads a long queue once a second at most, and forgets no addition', async () => {
  const world = await openQueue(200);

  for (let ms = 0; ms < 1000; ms += 100) {
    world.add();
    world.queue.hasMore();
    await world.queue.refresh();
    world.clock.advance(100);
  }
  const meanwhile = world.loads;
  await world.queue.refresh();

  expect([meanwhile, world.loads]).toEqual([1, 2]);
  expect(world.queue.waiting()).toHaveLength(210);
});

test('OutboundQueue is not empty before it has read, nor while more than it may read are there', async () => {
  const world = await openQueue(1200);
  const first = world.queue.waiting();

  for (const waiting of first) world.queue.delete(waiting);
  world.calls.splice(0, 1000);
  const isEmptyBefore = world.queue.isEmpty;
  await world.queue.refresh();

  expect([first.length, isEmptyBefore, world.queue.waiting().length]).toEqual([1000, false, 200]);
});

test('OutboundQueue counts the calls ahead on a trunk, and those it has not read yet', async () => {
  const world = await openQueue(3);
  world.add('+15550100002');
  world.queue.hasMore();
  await world.queue.refresh();

  expect(world.queue.aheadOn('trunk 1', 4, new Set())).toBe(3);
  expect(world.queue.aheadOn('trunk 2', 4, new Set())).toBe(1);
  expect(world.queue.aheadOn('trunk 2', 9, new Set())).toBe(6);
  expect(world.queue.aheadOn('trunk 1', 4, new Set(['call_1']))).toBe(2);
});
