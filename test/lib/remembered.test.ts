import { expect, test } from 'vitest';
import { cached } from '../../src/lib/clock.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

test('cached asks once a second, however often it is wanted', () => {
  const clock = new FakeClock();
  let asked = 0;
  const ask = cached(() => ++asked, { keptMs: 1000, clock });

  const answers = [0, 999, 1, 999, 1].map((waitMs) => {
    clock.advance(waitMs);
    return ask();
  });

  expect(answers).toEqual([1, 1, 2, 2, 3]);
});

test('cached keeps an answer that says nothing, too', () => {
  let asked = 0;
  const ask = cached(() => void asked++, { keptMs: 1000, clock: new FakeClock() });

  ask();
  ask();

  expect(asked).toBe(1);
});

test('cached keeps no failure', () => {
  let asked = 0;
  const ask = cached(
    () => {
      asked += 1;
      if (asked === 1) throw new TypeError('no');
      return asked;
    },
    { keptMs: 1000, clock: new FakeClock() },
  );

  expect(ask).toThrow('no');
  expect(ask()).toBe(2);
});
