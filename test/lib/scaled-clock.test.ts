/** Time that runs faster than the clock under it. */
import { expect, test } from 'vitest';
import { ScaledClock } from '../../src/lib/clock.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

test('ScaledClock begins at the real instant and runs ahead of it', () => {
  const real = new FakeClock(1000);
  const clock = new ScaledClock({ speed: 10, clock: real });

  const atStart = clock.nowMs();
  real.advance(250);

  expect(atStart).toBe(1000);
  expect(clock.nowMs()).toBe(3500);
  expect(clock.now()).toEqual(new Date(3500));
});

test.each([
  3_600_000, -3_600_000,
])('ScaledClock shows the calendar of the clock under it after that was set by %i ms', (byMs) => {
  const real = new FakeClock(1000);
  const clock = new ScaledClock({ speed: 10, clock: real });

  real.setCalendar(byMs);
  real.advance(250);

  expect(clock.nowMs()).toBe(3500);
  expect(clock.now()).toEqual(new Date(3500 + byMs));
});

test('ScaledClock rings when its own time has passed, not the real one', () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 10, clock: real });
  const rungAtMs: number[] = [];

  clock.after(5000, () => rungAtMs.push(clock.nowMs()));
  real.advance(499);
  const tooEarly = rungAtMs.length;
  real.advance(1);

  expect(tooEarly).toBe(0);
  expect(rungAtMs).toEqual([5000]);
});

test('ScaledClock does not ring what was cancelled', () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 2, clock: real });
  let rings = 0;

  const cancel = clock.after(100, () => {
    rings += 1;
  });
  cancel();
  cancel();
  real.advance(1000);

  expect(rings).toBe(0);
  expect(real.waiting).toBe(0);
});

test('ScaledClock keeps real time at speed 1', () => {
  const real = new FakeClock(7);
  const clock = new ScaledClock({ speed: 1, clock: real });

  real.advance(1234.5);

  expect(clock.nowMs()).toBe(real.nowMs());
});

test('ScaledClock runs at real speed while it is slowed down, without a jump', () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 10, clock: real });

  real.advance(100);
  const speedUp = clock.slowDown();
  real.advance(60);
  const slowMs = clock.nowMs();
  speedUp();
  real.advance(100);

  expect(slowMs).toBe(1060);
  expect(clock.nowMs()).toBe(2060);
});

test('ScaledClock puts off what was to ring while it is slow, and rings at the same instant of its own', () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 10, clock: real });
  const rungAt: [number, number][] = [];

  clock.after(1000, () => rungAt.push([real.nowMs(), clock.nowMs()]));
  const speedUp = clock.slowDown();
  real.advance(500);
  speedUp();
  real.advance(1000);

  expect(rungAt).toEqual([[550, 1000]]);
});

test('ScaledClock is slow until everybody has had enough of it', () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 10, clock: real });

  const first = clock.slowDown();
  const second = clock.slowDown();
  first();
  first();
  real.advance(10);
  const slowMs = clock.nowMs();
  second();
  real.advance(10);

  expect(slowMs).toBe(10);
  expect(clock.nowMs()).toBe(110);
});

test.each([
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
])('ScaledClock refuses speed %d', (speed) => {
  expect(() => new ScaledClock({ speed })).toThrow(RangeError);
});
