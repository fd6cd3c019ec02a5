/** Waits that share an alarm: when they ring, what cancelling leaves, and that one fault does not silence the others. */
import { expect, test } from 'vitest';
import { WaitLines } from '../../src/sip/transaction/shared-timers.ts';
import { FakeClock } from '../support/fake-clock.ts';

function open() {
  const clock = new FakeClock();
  const lines = new WaitLines(clock);
  const rung: string[] = [];
  const wait = (name: string, delayMs: number) => lines.after(delayMs, () => rung.push(name));
  return { clock, lines, rung, wait };
}

test('WaitLines rings a wait that stands alone on time, and holds no alarm behind it', () => {
  const { clock, rung, wait } = open();

  wait('a', 500);
  clock.advance(499);
  const before = [...rung];
  clock.advance(1);

  expect(before).toEqual([]);
  expect(rung).toEqual(['a']);
  expect(clock.waiting).toBe(0);
});

test('WaitLines has one alarm for all waits of a length, and rings each at most 10 ms late', () => {
  const { clock, rung, wait } = open();

  for (let ms = 0; ms < 100; ms++) {
    wait(`at ${500 + ms}`, 500);
    clock.advance(1);
  }
  const alarms = clock.waiting;
  clock.advance(450);

  expect(alarms).toBe(1);
  expect(rung).toContain('at 540');
  expect(rung).not.toContain('at 551');
  clock.advance(60);
  expect(rung.length).toBe(100);
  expect(clock.waiting).toBe(0);
});

test('WaitLines keeps lengths apart', () => {
  const { clock, rung, wait } = open();

  wait('long', 32_000);
  wait('short', 500);
  clock.advance(32_000);

  expect(rung).toEqual(['short', 'long']);
});

test('WaitLines does not ring what was cancelled, and cancelling twice takes nobody else away', () => {
  const { clock, rung, wait } = open();

  const cancelFirst = wait('first', 500);
  wait('second', 500);
  cancelFirst();
  cancelFirst();
  clock.advance(510);

  expect(rung).toEqual(['second']);
  expect(clock.waiting).toBe(0);
});

test('WaitLines lets a line go when its alarm finds nobody, and begins anew', () => {
  const { clock, rung, wait } = open();

  wait('a', 500)();
  clock.advance(500);
  const alarms = clock.waiting;
  wait('b', 500);
  clock.advance(500);

  expect(alarms).toBe(0);
  expect(rung).toEqual(['b']);
});

test('WaitLines rings long waits in larger groups, each at most a 320th of its length late', () => {
  const { clock, rung, wait } = open();
  for (let ms = 0; ms < 1000; ms++) {
    wait(`at ${ms}`, 32_000);
    clock.advance(1);
  }
  clock.advance(31_000);

  const groups: number[] = [];
  for (let ms = 0; ms < 1100; ms++) {
    const before = rung.length;
    clock.advance(1);
    if (rung.length > before) groups.push(rung.length - before);
  }

  expect(rung.length).toBe(1000);
  expect(groups.length).toBeLessThan(12);
  expect(Math.max(...groups)).toBeLessThanOrEqual(101);
});

test('WaitLines.endAfter aborts what was handed to it, in its turn among the waits of that length', () => {
  const { clock, lines, rung, wait } = open();

  wait('before', 500);
  lines.endAfter(500, { abort: () => rung.push('ended') });
  wait('behind', 500);
  clock.advance(500);

  expect(rung).toEqual(['before', 'ended', 'behind']);
  expect(clock.waiting).toBe(0);
});

test('WaitLines rings nothing and holds no alarm after its stop', () => {
  const { clock, lines, rung, wait } = open();

  const cancel = wait('a', 500);
  wait('b', 32_000);
  lines.stop();
  lines.stop();
  cancel();
  clock.advance(32_000);

  expect(rung).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('WaitLines takes a wait that begins, or is cancelled, while others ring', () => {
  const { clock, lines, rung, wait } = open();

  const cancels: (() => void)[] = [];
  lines.after(500, () => {
    wait('again', 500);
    for (const cancel of cancels) cancel();
  });
  cancels.push(wait('cancelled', 500));
  wait('other', 500);
  clock.advance(500);
  const first = [...rung];
  clock.advance(510);

  expect(first).toEqual(['other']);
  expect(rung).toEqual(['other', 'again']);
  expect(clock.waiting).toBe(0);
});

test('WaitLines rings the others when one throws', () => {
  const { clock, lines, rung, wait } = open();

  lines.after(500, () => {
    throw new Error('of the listener');
  });
  wait('other', 500);

  expect(() => clock.advance(500)).toThrow('of the listener');
  clock.advance(10);
  expect(rung).toEqual(['other']);
});

test('WaitLines rings each once that was not cancelled, where thousands come and go without a pause', () => {
  const { clock, rung, wait } = open();

  for (let ms = 0; ms < 5000; ms++) {
    const cancel = wait(`at ${ms}`, 500);
    if (ms % 3 === 0) cancel();
    clock.advance(1);
  }
  clock.advance(510);

  expect(rung.length).toBe(3333);
  expect(clock.waiting).toBe(0);
});

test('WaitLines rings in their order waits that fill more than one group, and forgets them all when it stops', () => {
  const { clock, lines, rung, wait } = open();

  for (let number = 0; number < 1000; number++) wait(`${number}`, 500);
  clock.advance(500);
  const first = [...rung];
  for (let number = 0; number < 1000; number++) wait(`${number}`, 500);
  lines.stop();
  clock.advance(500);

  expect(first).toEqual(Array.from({ length: 1000 }, (_, number) => `${number}`));
  expect(rung.length).toBe(1000);
  expect(clock.waiting).toBe(0);
});
