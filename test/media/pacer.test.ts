import { expect, test } from 'vitest';
import { type Paced, Pacer, SendSchedule } from '../../src/media/worker/pacer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

class PacedSession implements Paced {
  readonly ticksAtMs: number[] = [];

  onTick(nowMs: number): void {
    this.ticksAtMs.push(nowMs);
  }
}

function setUp() {
  const clock = new FakeClock();
  const faults: unknown[] = [];
  const pacer = new Pacer({ clock, onFault: (_session, error) => faults.push(error) });
  return { clock, pacer, faults };
}

test('Pacer calls a session every 20 ms without drift', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  pacer.add(session);

  clock.advance(60_000);

  const first = session.ticksAtMs[0] ?? 0;
  expect(session.ticksAtMs.length).toBeGreaterThanOrEqual(3000);
  expect(session.ticksAtMs.every((atMs, index) => atMs === first + index * 20)).toBe(true);
});

test('Pacer spreads sessions over the milliseconds', () => {
  const { clock, pacer } = setUp();
  const sessions = Array.from({ length: 40 }, () => new PacedSession());
  for (const session of sessions) pacer.add(session);

  clock.advance(40);

  const perMs = Map.groupBy(sessions, ({ ticksAtMs }) => (ticksAtMs[0] ?? 0) % 20);
  expect([...perMs.values()].map(({ length }) => length)).toEqual(new Array(20).fill(2));
});

test('Pacer makes up for late ticks', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  pacer.add(session);
  clock.advance(1000);
  const before = session.ticksAtMs.length;

  stall(clock, 100);
  clock.advance(1000);

  expect(session.ticksAtMs.length - before).toBe(55);
});

test('Pacer skips what was missed in a stall of more than 200 ms', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  pacer.add(session);
  clock.advance(1000);
  const before = session.ticksAtMs.length;

  stall(clock, 60_000);
  clock.advance(20);

  expect(session.ticksAtMs.length - before).toBeLessThanOrEqual(12);
});

test('Pacer moves a session to any moment', () => {
  const { clock, pacer } = setUp();
  const [session, other] = [new PacedSession(), new PacedSession()];
  pacer.add(session);
  pacer.add(other);
  clock.advance(107);

  pacer.move(session, 20);
  const waitMs = pacer.waitMs(session);
  clock.advance(60);

  expect(waitMs).toBe(20);
  expect(session.ticksAtMs.slice(-3)).toEqual([127, 147, 167]);
});

test('Pacer does not call a session at once that joins after a long rest', () => {
  const { clock, pacer } = setUp();
  clock.advance(100_013);
  const session = new PacedSession();

  pacer.add(session);
  clock.advance(19);

  expect(session.ticksAtMs).toHaveLength(1);
});

test('Pacer sleeps while it has no session', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  pacer.add(session);

  pacer.remove(session);

  expect(clock.waiting).toBe(0);
});

test('Pacer goes on without a session that throws', () => {
  const { clock, pacer, faults } = setUp();
  const session = new PacedSession();
  pacer.add({
    onTick: () => {
      throw new Error('a fault');
    },
  });
  pacer.add(session);

  clock.advance(100);

  expect(faults).toHaveLength(1);
  expect(session.ticksAtMs).toHaveLength(5);
  expect(pacer.size).toBe(1);
});

test('Pacer calls no session after its stop', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  pacer.add(session);

  pacer.stop();
  pacer.stop();
  clock.advance(1000);

  expect(session.ticksAtMs).toEqual([]);
});

/** Lets time pass as a blocked thread does: what fell due rings late. */
function stall(clock: FakeClock, byMs: number): void {
  const { nowMs } = clock;
  const lateAtMs = clock.nowMs() + byMs;
  clock.nowMs = () => lateAtMs;
  clock.advance(20);
  clock.nowMs = nowMs;
  clock.advance(byMs - 20);
}

test('SendSchedule starts a reply at once, and gives the lead back in the silence after it', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  const schedule = new SendSchedule(session, pacer);
  pacer.add(session);
  clock.advance(107);

  const leadMs = pacer.waitMs(session);
  const starts = [schedule.startNow(), pacer.waitMs(session)];
  const waits = [schedule.waitIfAhead(), pacer.waitMs(session), schedule.waitIfAhead()];

  expect(starts).toEqual([true, 20]);
  expect(waits).toEqual([true, leadMs, false]);
});

test('SendSchedule never brings a stream more than a packet ahead', () => {
  const { clock, pacer } = setUp();
  const session = new PacedSession();
  const schedule = new SendSchedule(session, pacer);
  pacer.add(session);
  clock.advance(107);
  schedule.startNow();

  const isSecondStarted = schedule.startNow();

  expect(isSecondStarted).toBe(false);
  expect(pacer.waitMs(session)).toBe(20);
});
