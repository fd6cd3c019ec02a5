/** Waits by name: what rings, what is replaced, and what is left behind. */
import { expect, test } from 'vitest';
import type { TurnTimer } from '../../src/conversation/turn/turn-event.ts';
import { TurnTimers } from '../../src/conversation/turn/turn-rules.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function openTimers() {
  const clock = new FakeClock();
  const rung: TurnTimer[] = [];
  const timers = new TurnTimers({ clock, onRing: (timer) => rung.push(timer) });
  return { clock, rung, timers };
}

test('TurnTimers rings each wait once, at its time', () => {
  const { clock, rung, timers } = openTimers();
  timers.set('silence', 200);
  timers.set('reply', 100);

  clock.advance(100);
  const first = [...rung];
  clock.advance(1000);

  expect([first, rung]).toEqual([['reply'], ['reply', 'silence']]);
});

test('TurnTimers replaces a wait of the same name', () => {
  const { clock, rung, timers } = openTimers();
  timers.set('silence', 100);
  timers.set('silence', 300);

  clock.advance(299);
  const early = [...rung];
  clock.advance(1);

  expect([early, rung]).toEqual([[], ['silence']]);
});

test('TurnTimers leaves nothing waiting once all waits are cancelled', () => {
  const { clock, rung, timers } = openTimers();
  timers.set('silence', 100);
  timers.set('reply', 100);
  timers.cancel('reply');
  const one = clock.waiting;
  timers.cancelAll();

  clock.advance(1000);

  expect([one, clock.waiting, rung]).toEqual([1, 0, []]);
});
