import { expect, test } from 'vitest';
import { LineBeat } from '../../src/media/worker/line-beat.ts';
import { Pacer, type Rider } from '../../src/media/worker/pacer.ts';
import { FakeClock } from '../support/fake-clock.ts';

const BUSY = 300;

/** A line whose caller's packets come `phaseMs` after each whole 20 ms, on a wheel with others. */
class FollowingLine implements Rider {
  readonly beatsAtMs: number[] = [];
  readonly beat: LineBeat;
  readonly #phaseMs: number;

  constructor(wheel: Pacer, phaseMs: number) {
    this.beat = new LineBeat(this, wheel);
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

function lineAmong(others: number, phaseMs: number) {
  const clock = new FakeClock(20_000);
  const wheel = new Pacer({
    clock,
    onFault: (_rider, error) => {
      throw error;
    },
  });
  for (let added = 0; added < others; added += 1) wheel.add({ ride: () => undefined });
  const line = new FollowingLine(wheel, phaseMs);
  wheel.add(line);
  return { clock, line };
}

/** How long the line waited between one beat and the next. */
function pausesOf({ beatsAtMs }: FollowingLine): number[] {
  return beatsAtMs.slice(1).map((atMs, index) => atMs - (beatsAtMs[index] ?? 0));
}

test.each([
  0, 3.4, 7, 10, 13.6, 19,
])("LineBeat comes to where the caller's packets come, %d ms after the 20 ms, and stays there", (phaseMs) => {
  const { clock, line } = lineAmong(BUSY, phaseMs);

  clock.advance(11_000);
  const before = line.phasesMs.at(-1) ?? 0;
  clock.advance(60_000);

  const apart = Math.abs(before - phaseMs);
  expect(Math.min(apart, 20 - apart)).toBeLessThanOrEqual(1.1);
  expect(line.phasesMs.at(-1)).toBe(before);
});

test('LineBeat follows by a millisecond each half second, no faster', () => {
  const { clock, line } = lineAmong(BUSY, 10);

  clock.advance(11_000);

  const moves = pausesOf(line).flatMap((pauseMs, index) => (pauseMs === 20 ? [] : [index]));
  const spacing = moves.slice(1).map((move, index) => move - (moves[index] ?? 0));
  expect(pausesOf(line).every((pauseMs) => Math.abs(pauseMs - 20) <= 1)).toBe(true);
  expect(spacing.length).toBeGreaterThan(3);
  expect(spacing.every((beats) => beats === 25)).toBe(true);
});

test('LineBeat of a silent line only waits, however long the way round, so that a reply may begin at once', () => {
  const { clock, line } = lineAmong(BUSY, 15);

  clock.advance(11_000);

  expect(new Set(pausesOf(line))).toEqual(new Set([20, 21]));
});

test('LineBeat keeps its time where there are few lines', () => {
  const { clock, line } = lineAmong(200, 10);

  clock.advance(11_000);

  expect(new Set(pausesOf(line))).toEqual(new Set([20]));
});

test('LineBeat is never further than a packet from its own time, however long the caller drifts', () => {
  const { clock, line } = lineAmong(BUSY, 0);
  const startedAtMs = line.beatsAtMs[0] ?? 0;
  let driftMs = 0;
  line.ride = (nowMs: number) => {
    line.beatsAtMs.push(nowMs);
    driftMs += 0.01;
    line.beat.follow((nowMs - driftMs) % 20);
  };

  clock.advance(120_000);

  const first = line.beatsAtMs[0] ?? startedAtMs;
  const offMs = line.beatsAtMs.map((atMs, index) => atMs - first - index * 20);
  expect(Math.max(...offMs)).toBeLessThanOrEqual(21);
  expect(Math.min(...offMs)).toBeGreaterThanOrEqual(-21);
});

test('LineBeat stays when no packet of the caller has come', () => {
  const { clock, line } = lineAmong(BUSY, 0);
  line.ride = (nowMs: number) => {
    line.beatsAtMs.push(nowMs);
    line.beat.follow(Number.POSITIVE_INFINITY);
  };

  clock.advance(11_000);

  expect(new Set(pausesOf(line))).toEqual(new Set([20]));
});

test('LineBeat lets a reply begin although it has followed the caller', () => {
  const { clock, line } = lineAmong(BUSY, 10);
  clock.advance(11_000);
  const beats = line.beatsAtMs.length;

  clock.advance(7);
  const mayStart = line.beat.startNow();
  const startedAtMs = clock.nowMs();
  clock.advance(30);

  expect(mayStart).toBe(true);
  expect(line.beatsAtMs.slice(beats).at(-1)).toBe(startedAtMs + 20);
});

test('LineBeat takes the shorter way while the line talks, and is back in its time when it falls silent', () => {
  const { clock, line } = lineAmong(BUSY, 0);
  clock.advance(2_000);
  clock.advance(5);
  line.beat.startNow();

  clock.advance(6_000);
  const far = line.phasesMs.map((phaseMs) => Math.min(phaseMs, 20 - phaseMs)).at(-1);
  const didWait = line.beat.waitIfAhead();
  const waitsTwice = line.beat.waitIfAhead();

  expect(far).toBeLessThanOrEqual(1.1);
  expect([didWait, waitsTwice]).toEqual([true, false]);
});
