/** Timers that share one of the system: when they fire, what cancelling leaves, and that one exception does not stop the others. */
import { expect, test } from 'vitest';
import { SharedTimers } from '../../src/sip/transaction/shared-timers.ts';
import { Retransmitter } from '../../src/sip/transaction/timers.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function open() {
  const clock = new FakeClock();
  const timers = new SharedTimers(clock);
  const fired: string[] = [];
  const wait = (name: string, delayMs: number) => timers.after(delayMs, () => fired.push(name));
  return { clock, timers, fired, wait };
}

test('SharedTimers fires a single timer on time, and holds no alarm after it', () => {
  const { clock, fired, wait } = open();

  wait('a', 500);
  clock.advance(499);
  const before = [...fired];
  clock.advance(1);

  expect(before).toEqual([]);
  expect(fired).toEqual(['a']);
  expect(clock.waiting).toBe(0);
});

test('SharedTimers has one alarm for all timers of a length, and fires each at most 10 ms late', () => {
  const { clock, fired, wait } = open();

  for (let ms = 0; ms < 100; ms++) {
    wait(`at ${500 + ms}`, 500);
    clock.advance(1);
  }
  const alarms = clock.waiting;
  clock.advance(450);

  expect(alarms).toBe(1);
  expect(fired).toContain('at 540');
  expect(fired).not.toContain('at 551');
  clock.advance(60);
  expect(fired.length).toBe(100);
  expect(clock.waiting).toBe(0);
});

test('SharedTimers keeps lengths apart', () => {
  const { clock, fired, wait } = open();

  wait('long', 32_000);
  wait('short', 500);
  clock.advance(32_000);

  expect(fired).toEqual(['short', 'long']);
});

test('SharedTimers does not fire a cancelled timer, and cancelling twice cancels no other', () => {
  const { clock, fired, wait } = open();

  const cancelFirst = wait('first', 500);
  wait('second', 500);
  cancelFirst();
  cancelFirst();
  clock.advance(510);

  expect(fired).toEqual(['second']);
  expect(clock.waiting).toBe(0);
});

test('SharedTimers drops a queue that has run empty, and starts another', () => {
  const { clock, fired, wait } = open();

  wait('a', 500)();
  clock.advance(500);
  const alarms = clock.waiting;
  wait('b', 500);
  clock.advance(500);

  expect(alarms).toBe(0);
  expect(fired).toEqual(['b']);
});

test('SharedTimers fires long timers in larger groups, each at most a 320th of its length late', () => {
  const { clock, fired, wait } = open();
  for (let ms = 0; ms < 1000; ms++) {
    wait(`at ${ms}`, 32_000);
    clock.advance(1);
  }
  clock.advance(31_000);

  const groups: number[] = [];
  for (let ms = 0; ms < 1100; ms++) {
    const before = fired.length;
    clock.advance(1);
    if (fired.length > before) groups.push(fired.length - before);
  }

  expect(fired.length).toBe(1000);
  expect(groups.length).toBeLessThan(12);
  expect(Math.max(...groups)).toBeLessThanOrEqual(101);
});

test('SharedTimers fires nothing and holds no alarm after its stop', () => {
  const { clock, timers, fired, wait } = open();

  const cancel = wait('a', 500);
  wait('b', 32_000);
  timers.stop();
  timers.stop();
  cancel();
  clock.advance(32_000);

  expect(fired).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('SharedTimers takes a timer that is added or cancelled while others fire', () => {
  const { clock, timers, fired, wait } = open();

  const cancels: (() => void)[] = [];
  timers.after(500, () => {
    wait('again', 500);
    for (const cancel of cancels) cancel();
  });
  cancels.push(wait('cancelled', 500));
  wait('other', 500);
  clock.advance(500);
  const first = [...fired];
  clock.advance(510);

  expect(first).toEqual(['other']);
  expect(fired).toEqual(['other', 'again']);
  expect(clock.waiting).toBe(0);
});

test('SharedTimers fires the others when one throws', () => {
  const { clock, timers, fired, wait } = open();

  timers.after(500, () => {
    throw new Error('of the listener');
  });
  wait('other', 500);

  expect(() => clock.advance(500)).toThrow('of the listener');
  clock.advance(10);
  expect(fired).toEqual(['other']);
});

test('SharedTimers fires each that was not cancelled once, where thousands come and go without a pause', () => {
  const { clock, fired, wait } = open();

  for (let ms = 0; ms < 5000; ms++) {
    const cancel = wait(`at ${ms}`, 500);
    if (ms % 3 === 0) cancel();
    clock.advance(1);
  }
  clock.advance(510);

  expect(fired.length).toBe(3333);
  expect(clock.waiting).toBe(0);
});

test('SharedTimers fires thousands of timers in their order, and drops them all when it stops', () => {
  const { clock, timers, fired, wait } = open();

  for (let number = 0; number < 1000; number++) wait(`${number}`, 500);
  clock.advance(500);
  const first = [...fired];
  for (let number = 0; number < 1000; number++) wait(`${number}`, 500);
  timers.stop();
  clock.advance(500);

  expect(first).toEqual(Array.from({ length: 1000 }, (_, number) => `${number}`));
  expect(fired.length).toBe(1000);
  expect(clock.waiting).toBe(0);
});

/** Fires the timers of `clock` late by `lateMs`, as an event loop does that was blocked. */
function lateClock(clock: FakeClock) {
  const late = {
    lateMs: 0,
    nowMs: () => clock.nowMs() + late.lateMs,
    now: () => clock.now(),
    after: (delayMs: number, run: () => void) => clock.after(delayMs, run),
  };
  return late;
}

test('SharedTimers fires every overdue timer at once after a blocked event loop, and later ones on time', () => {
  const clock = new FakeClock();
  const late = lateClock(clock);
  const timers = new SharedTimers(late);
  const fired: string[] = [];
  for (let number = 0; number < 300; number++) {
    timers.after(500, () => fired.push(`overdue ${number}`));
    clock.advance(1);
  }

  late.lateMs = 2000;
  clock.advance(200);
  const overdue = fired.length;
  timers.after(500, () => fired.push('later'));
  clock.advance(499);
  const before = fired.includes('later');
  clock.advance(11);

  expect(overdue).toBe(300);
  expect([before, fired.at(-1)]).toEqual([false, 'later']);
});

test('Retransmitter over SharedTimers repeats a message at 0.5, 1.5 and 3.5 s beside thousands that were answered', () => {
  const clock = new FakeClock();
  const timers = new SharedTimers(clock);
  const sentAtMs: number[] = [];
  const resend = () => void sentAtMs.push(clock.nowMs());
  const answered = () => {
    const other = new Retransmitter({ clock: timers, firstMs: 500, longestMs: 4000, resend });
    clock.advance(1);
    other.stop();
  };
  for (let count = 0; count < 1000; count++) answered();

  const lost = new Retransmitter({ clock: timers, firstMs: 500, longestMs: 4000, resend });
  for (let count = 0; count < 4000; count++) answered();
  lost.stop();

  const dueMs = [1500, 2500, 4500];
  expect(sentAtMs.length).toBe(dueMs.length);
  for (const [index, atMs] of sentAtMs.entries()) {
    expect(atMs - (dueMs[index] ?? 0)).toBeGreaterThanOrEqual(-1);
    expect(atMs - (dueMs[index] ?? 0)).toBeLessThanOrEqual(13 * (index + 1));
  }
});
