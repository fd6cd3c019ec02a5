import { expect, test } from 'vitest';
import { Pacer, type Rider } from '../../src/media/worker/pacer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

class Passenger implements Rider {
  readonly ridesAtMs: number[] = [];

  ride(nowMs: number): void {
    this.ridesAtMs.push(nowMs);
  }
}

function setUp() {
  const clock = new FakeClock();
  const faults: unknown[] = [];
  const pacer = new Pacer({ clock, onFault: (_rider, error) => faults.push(error) });
  return { clock, pacer, faults };
}

test('Pacer calls a rider every 20 ms without drift', () => {
  const { clock, pacer } = setUp();
  const rider = new Passenger();
  pacer.add(rider);

  clock.advance(60_000);

  const first = rider.ridesAtMs[0] ?? 0;
  expect(rider.ridesAtMs.length).toBeGreaterThanOrEqual(3000);
  expect(rider.ridesAtMs.every((atMs, index) => atMs === first + index * 20)).toBe(true);
});

test('Pacer spreads riders over the milliseconds', () => {
  const { clock, pacer } = setUp();
  const riders = Array.from({ length: 40 }, () => new Passenger());
  for (const rider of riders) pacer.add(rider);

  clock.advance(40);

  const perMs = Map.groupBy(riders, ({ ridesAtMs }) => (ridesAtMs[0] ?? 0) % 20);
  expect([...perMs.values()].map(({ length }) => length)).toEqual(new Array(20).fill(2));
});

test('Pacer makes up for turns that it was late for', () => {
  const { clock, pacer } = setUp();
  const rider = new Passenger();
  pacer.add(rider);
  clock.advance(1000);
  const before = rider.ridesAtMs.length;

  stall(clock, 100);
  clock.advance(1000);

  expect(rider.ridesAtMs.length - before).toBe(55);
});

test('Pacer skips what was missed in a stall of more than 200 ms', () => {
  const { clock, pacer } = setUp();
  const rider = new Passenger();
  pacer.add(rider);
  clock.advance(1000);
  const before = rider.ridesAtMs.length;

  stall(clock, 60_000);
  clock.advance(20);

  expect(rider.ridesAtMs.length - before).toBeLessThanOrEqual(12);
});

test('Pacer moves a rider to any moment', () => {
  const { clock, pacer } = setUp();
  const [rider, other] = [new Passenger(), new Passenger()];
  pacer.add(rider);
  pacer.add(other);
  clock.advance(107);

  pacer.move(rider, 20);
  const waitMs = pacer.waitMs(rider);
  clock.advance(60);

  expect(waitMs).toBe(20);
  expect(rider.ridesAtMs.slice(-3)).toEqual([127, 147, 167]);
});

test('Pacer does not call a rider at once that joins after a long rest', () => {
  const { clock, pacer } = setUp();
  clock.advance(100_013);
  const rider = new Passenger();

  pacer.add(rider);
  clock.advance(19);

  expect(rider.ridesAtMs).toHaveLength(1);
});

test('Pacer sleeps while nobody rides', () => {
  const { clock, pacer } = setUp();
  const rider = new Passenger();
  pacer.add(rider);

  pacer.remove(rider);

  expect(clock.waiting).toBe(0);
});

test('Pacer goes on without a rider that throws', () => {
  const { clock, pacer, faults } = setUp();
  const rider = new Passenger();
  pacer.add({
    ride: () => {
      throw new Error('flat tyre');
    },
  });
  pacer.add(rider);

  clock.advance(100);

  expect(faults).toHaveLength(1);
  expect(rider.ridesAtMs).toHaveLength(5);
  expect(pacer.size).toBe(1);
});

test('Pacer calls nobody after its stop', () => {
  const { clock, pacer } = setUp();
  const rider = new Passenger();
  pacer.add(rider);

  pacer.stop();
  pacer.stop();
  clock.advance(1000);

  expect(rider.ridesAtMs).toEqual([]);
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

test('Pacer nudges nobody into a crowd', () => {
  const { clock, pacer } = setUp();
  const riders = Array.from({ length: 300 }, () => new Passenger());
  for (const rider of riders) pacer.add(rider);
  clock.advance(40);
  const phaseOf = ({ ridesAtMs }: Passenger) => (ridesAtMs.at(-1) ?? 0) % 20;
  const wanted = 7;

  for (let round = 0; round < 100; round += 1) {
    for (const rider of riders) if (phaseOf(rider) !== wanted) pacer.nudge(rider, 1);
    clock.advance(20);
  }

  const perMs = Map.groupBy(riders, phaseOf);
  expect(perMs.get(wanted)?.length).toBe(30);
  expect(Math.max(...[...perMs.values()].map(({ length }) => length))).toBe(30);
});

test('Pacer nudges a rider by one turn, for good', () => {
  const { clock, pacer } = setUp();
  const riders = Array.from({ length: 300 }, () => new Passenger());
  for (const rider of riders) pacer.add(rider);
  clock.advance(100);
  const [rider = new Passenger()] = riders;
  const lastAtMs = rider.ridesAtMs.at(-1) ?? 0;

  const isNudged = [pacer.nudge(rider, 1), pacer.nudge(new Passenger(), 1)];
  clock.advance(60);

  expect(isNudged).toEqual([true, false]);
  expect(rider.ridesAtMs.slice(-2)).toEqual([lastAtMs + 21, lastAtMs + 41]);
});
