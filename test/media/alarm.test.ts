/** Sleeping to the instant, and being woken before it. */
import { expect, test } from 'vitest';
import { Alarm, newAlarmMemory } from '../../src/media/worker/pacer.ts';

test('Alarm sleeps to the end while nobody rings it', () => {
  const alarm = new Alarm(newAlarmMemory());

  const isOver = alarm.sleep(1);

  expect(isOver).toBe(true);
});

test('Alarm that rang before the sleep keeps from it, once', () => {
  const memory = newAlarmMemory();
  const sleeper = new Alarm(memory);

  new Alarm(memory).ring();

  expect([sleeper.sleep(60_000), sleeper.sleep(1)]).toEqual([false, true]);
});
