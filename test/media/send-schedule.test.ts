import { expect, test } from 'vitest';
import { Pacer, type Rider } from '../../src/media/worker/pacer.ts';
import { SendSchedule } from '../../src/media/worker/send-schedule.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const BUSY = 300;

/** A session whose caller's packets come `phaseMs` after each whole 20 ms, on a pacer with others. */
class FollowingSession implements Rider {
  readonly beatsAtMs: number[] = [];
  readonly beat: SendSchedule;
  readonly #phaseMs: number;

  constructor(pacer: Pacer, phaseMs: number) {
    this.beat = new SendSchedule(this, pacer);
    this.#phaseMs = phaseMs;
  }

  ride(nowMs: number): void {
    this.beatsAtMs.push(nowMs);
    const sinceHeardMs = (nowMs - this.#phaseMs) % 20;
    this.beat.follow(sinceHeardMs);
  }

  get phasesMs(): number[] {
    return this.beatsAtMs.map((atMs) => atMs % 20);
  }
}

function sessionAmong(others: number, phaseMs: number) {
  const clock = new FakeClock(20_000);
  const pacer = new Pacer({
    clock,
    onFault: (_rider, error) => {
      throw error;
    },
  });
  for (let added = 0; added < others; added += 1) pacer.add({ ride: () => undefined });
  const session = new FollowingSession(pacer, phaseMs);
  pacer.add(session);
  return { clock, session };
}

/** How long the session waited between one beat and the next. */
function pausesOf({ beatsAtMs }: FollowingSession): number[] {
  return beatsAtMs.slice(1).map((atMs, index) => atMs - (beatsAtMs[index] ?? 0));
}

test.each([
  0, 3.4, 7, 10, 13.6, 19,
])("SendSchedule comes to where the caller's packets come, %d ms after the 20 ms, and stays there", (phaseMs) => {
  const { clock, session } = sessionAmong(BUSY, phaseMs);

  clock.advance(11_000);
  const before = session.phasesMs.at(-1) ?? 0;
  clock.advance(60_000);

  const apart = Math.abs(before - phaseMs);
  expect(Math.min(apart, 20 - apart)).toBeLessThanOrEqual(1.1);
  expect(session.phasesMs.at(-1)).toBe(before);
});

test('SendSchedule follows by a millisecond each half second, no faster', () => {
  const { clock, session } = sessionAmong(BUSY, 10);

  clock.advance(11_000);

  const moves = pausesOf(session).flatMap((pauseMs, index) => (pauseMs === 20 ? [] : [index]));
  const spacing = moves.slice(1).map((move, index) => move - (moves[index] ?? 0));
  expect(pausesOf(session).every((pauseMs) => Math.abs(pauseMs - 20) <= 1)).toBe(true);
  expect(spacing.length).toBeGreaterThan(3);
  expect(spacing.every((beats) => beats === 25)).toBe(true);
});

test('SendSchedule of a silent session only waits, however long the way round, so that a reply may begin at once', () => {
  const { clock, session } = sessionAmong(BUSY, 15);

  clock.advance(11_000);

  expect(new Set(pausesOf(session))).toEqual(new Set([20, 21]));
});

test('SendSchedule keeps its time where there are few sessions', () => {
  const { clock, session } = sessionAmong(200, 10);

  clock.advance(11_000);

  expect(new Set(pausesOf(session))).toEqual(new Set([20]));
});

test('SendSchedule is never further than a packet from its own time, however long the caller drifts', () => {
  const { clock, session } = sessionAmong(BUSY, 0);
  const startedAtMs = session.beatsAtMs[0] ?? 0;
  let driftMs = 0;
  session.ride = (nowMs: number) => {
    session.beatsAtMs.push(nowMs);
    driftMs += 0.01;
    session.beat.follow((nowMs - driftMs) % 20);
  };

  clock.advance(120_000);

  const first = session.beatsAtMs[0] ?? startedAtMs;
  const offMs = session.beatsAtMs.map((atMs, index) => atMs - first - index * 20);
  expect(Math.max(...offMs)).toBeLessThanOrEqual(21);
  expect(Math.min(...offMs)).toBeGreaterThanOrEqual(-21);
});

test('SendSchedule stays when no packet of the caller has come', () => {
  const { clock, session } = sessionAmong(BUSY, 0);
  session.ride = (nowMs: number) => {
    session.beatsAtMs.push(nowMs);
    session.beat.follow(Number.POSITIVE_INFINITY);
  };

  clock.advance(11_000);

  expect(new Set(pausesOf(session))).toEqual(new Set([20]));
});

test('SendSchedule lets a reply begin although it has followed the caller', () => {
  const { clock, session } = sessionAmong(BUSY, 10);
  clock.advance(11_000);
  const beats = session.beatsAtMs.length;

  clock.advance(7);
  const mayStart = session.beat.startNow();
  const startedAtMs = clock.nowMs();
  clock.advance(30);

  expect(mayStart).toBe(true);
  expect(session.beatsAtMs.slice(beats).at(-1)).toBe(startedAtMs + 20);
});

test('SendSchedule takes the shorter way while the session talks, and is back in its time when it falls silent', () => {
  const { clock, session } = sessionAmong(BUSY, 0);
  clock.advance(2_000);
  clock.advance(5);
  session.beat.startNow();

  clock.advance(6_000);
  const far = session.phasesMs.map((phaseMs) => Math.min(phaseMs, 20 - phaseMs)).at(-1);
  const didWait = session.beat.waitIfAhead();
  const waitsTwice = session.beat.waitIfAhead();

  expect(far).toBeLessThanOrEqual(1.1);
  expect([didWait, waitsTwice]).toEqual([true, false]);
});
