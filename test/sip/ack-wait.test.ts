/** A 2xx that waits for its ACK: when it is repeated, when it is given up, and that it holds no alarm behind its end. */
import { expect, test } from 'vitest';
import type { SipMessage } from '../../src/sip/message/message.ts';
import { AckWait } from '../../src/sip/transaction/reliable-responses.ts';
import { STANDARD_TIMERS } from '../../src/sip/transaction/timers.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request } from './messages.ts';

function open() {
  const clock = new FakeClock();
  const told: string[] = [];
  const ack = Promise.withResolvers<SipMessage | null>();
  const wait = new AckWait({
    clock,
    timers: STANDARD_TIMERS,
    sequence: 1,
    ack,
    transaction: {
      repeat: () => told.push(`repeat at ${clock.nowMs()}`),
      acknowledged: () => told.push(`over at ${clock.nowMs()}`),
    },
    onTimeout: () => told.push(`given up at ${clock.nowMs()}`),
  });
  return { clock, told, ack, wait };
}

test('AckWait repeats at T1, then at twice that up to T2, and gives up at 64*T1', async () => {
  const { clock, told, wait } = open();

  clock.advance(100_000);

  expect(told).toEqual([
    ...[500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500].map(
      (atMs) => `repeat at ${atMs}`,
    ),
    'over at 32000',
    'given up at 32000',
  ]);
  expect(await wait.acknowledged).toBeNull();
  expect(clock.waiting).toBe(0);
});

test('AckWait has no alarm once it is settled', async () => {
  const { clock, told, wait } = open();
  const ack = request('ACK');

  clock.advance(600);
  wait.settle(ack);
  wait.settle(null);
  clock.advance(100_000);

  expect(clock.waiting).toBe(0);
  expect(told).toEqual(['repeat at 500', 'over at 600']);
  expect(await wait.acknowledged).toBe(ack);
});
