/** Small parts of calls: the values at which they decide otherwise, and what they leave behind. */
import { expect, test } from 'vitest';
import { type Loads, lookedAt, OPEN } from '../../src/call/admission/admission-watch.ts';
import { cutTo } from '../../src/call/analysis/analysis-fallback.ts';
import { deadlineMs, retryWaitMs } from '../../src/call/analysis/analyst.ts';
import { CallRegistry } from '../../src/call/call-registry.ts';
import { LevelRounds, lineClosed } from '../../src/call/live-calls.ts';
import { DialLines } from '../../src/call/outbound/outbound-queue.ts';
import { CallJournal } from '../../src/call/session/call-journal.ts';
import { CallClock } from '../../src/call/session/call-tracing.ts';
import type { AnalysisJob } from '../../src/domain/call/call.ts';
import { StoreError } from '../../src/domain/service-error.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import type { Leg } from '../../src/telephony/carrier.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { ScriptedAudio } from './support/scripted-party.ts';

const loads = (some: Partial<Loads>): Loads => ({
  ...{ event_loop: 0, worker_thread: 0, recogniser: 0, memory: 0 },
  ...some,
});

test('lookedAt takes a load of exactly 1 for too much', () => {
  const full = loads({ worker_thread: 1 });

  const held = [1, 2, 3].reduce((before) => lookedAt(before, full), OPEN);

  expect(held.shortage).toBe('worker_thread');
});

test('lookedAt names another shortage once that is at its limit', () => {
  const short = { shortage: 'memory', against: 0 } as const;

  expect(lookedAt(short, loads({ recogniser: 1 })).shortage).toBe('recogniser');
});

test('lookedAt names the first of two that are alike', () => {
  const both = loads({ event_loop: 2, recogniser: 2 });

  const held = [1, 2, 3].reduce((before) => lookedAt(before, both), OPEN);

  expect(held.shortage).toBe('event_loop');
});

test.each([
  ['abcd', 4, 'abcd'],
  ['abcde', 4, 'abc…'],
  ['ab cde', 4, 'ab…'],
  ['ab\u{1F600}cd', 4, 'ab…'],
])('cutTo of "%s" at %d is "%s"', (text, charsMax, expected) => {
  expect(cutTo(text, charsMax)).toBe(expected);
});

test('an ended call is asked about until 27 s after its end, or 10 s after the start', () => {
  const job = { endedAt: new Date(100_000), attempts: 0 } as AnalysisJob;

  expect([deadlineMs(job, 0), deadlineMs(job, 200_000)]).toEqual([127_000, 210_000]);
  expect([0, 1, 2].map((attempts) => retryWaitMs({ ...job, attempts }))).toEqual([
    ...[2000, 5000, undefined],
  ]);
});

test('CallClock goes on from the calendar as it stood, whatever happens to that', () => {
  const clock = new FakeClock(5000.75);
  clock.setCalendar(1_000_000);
  const call = new CallClock(clock, new Date(0));
  const begun = call.now().getTime();

  clock.setCalendar(-500_000);
  clock.advance(1000);

  expect(begun).toBe(1_005_000);
  expect(call.now().getTime()).toBe(begun + 1000);
});

test('CallClock gives no date before the beginning of the call', () => {
  const clock = new FakeClock(5000);

  expect(new CallClock(clock, new Date(9000)).now()).toEqual(new Date(9000));
});

const full = () => {
  throw new StoreError('the disk is full', 'full');
};

test('CallJournal tries again every so often, and leaves nothing waiting once all is written', async () => {
  const clock = new FakeClock();
  const journal = new CallJournal({ clock, log: silentLogger });
  let isFull = true;
  let written = 0;
  journal.write(async () => {
    if (isFull) full();
    written += 1;
  });
  const drained = journal.drained(10_000);
  await clock.pass(3000);
  isFull = false;

  await clock.pass(3000);
  journal.write(async () => {
    written += 1;
  });

  expect(await drained).toBe(true);
  expect([written, clock.waiting]).toEqual([2, 0]);
});

test('CallJournal loses what comes when too much waits, and says so', async () => {
  const logged: string[] = [];
  const note = (_fields: object, message: string) => logged.push(message);
  const clock = new FakeClock();
  const journal = new CallJournal({ clock, log: { ...silentLogger, error: note } });
  let isFull = true;
  let written = 0;
  let offered = 0;
  while (logged.length === 0 && offered < 100_000) {
    offered += 1;
    journal.write(async () => {
      if (isFull) full();
      written += 1;
    });
  }

  isFull = false;
  const drained = journal.drained(60_000);
  await clock.pass(1000);
  await drained;

  expect(logged).toEqual(['call record: entry lost, too many are waiting']);
  expect(written).toBe(offered - 1);
});

test('CallRegistry is empty at once where no call is', async () => {
  await expect(new CallRegistry({ callsMax: 1 }).whenEmpty()).resolves.toBeUndefined();
});

test('CallRegistry ends every call, also after one that cannot be ended', async () => {
  const ended: string[] = [];
  const registry = new CallRegistry({ callsMax: 2 });
  const call = (callId: string, end: () => Promise<void>) => ({
    ...{ callId, hangUp: () => undefined, end },
  });
  registry.add(call('a', () => Promise.reject(new Error('no'))));
  registry.add(call('b', async () => void ended.push('b')));

  await registry.endAll('shutdown');

  expect(ended).toEqual(['b']);
});

const UNLIMITED = { trunk: '', callsPerSecond: undefined, free: Infinity, total: Infinity };

function openLines(line: { callsPerSecond?: number; free: number } | undefined) {
  const clock = new FakeClock(10_000);
  const routeFor = () =>
    line && { trunk: 'main', total: 3, callsPerSecond: line.callsPerSecond, free: line.free };
  const carrier = { routeFor, place: () => Promise.reject(new Error()) };
  const lines = new DialLines({
    clock,
    callsPerSecond: undefined,
    carrier: carrier as unknown as ConstructorParameters<typeof DialLines>[0]['carrier'],
  });
  return { clock, lines, route: lines.routeFor('+1') };
}

test('DialLines waits for its share of the second, five calls where the trunk says nothing', () => {
  const { clock, lines, route } = openLines({ free: 1 });
  lines.dialled(route);
  const atOnce = lines.waitMs(route);
  clock.advance(199);
  const late = lines.waitMs(route);
  clock.advance(1);

  expect([atOnce, late, lines.waitMs(route)]).toEqual([200, 1, 0]);
});

test('DialLines waits for calls of the trunk that it did not dial', () => {
  const { clock, lines, route = UNLIMITED } = openLines({ free: 1 });

  const busy = { ...route, nextDialAtMs: clock.nowMs() + 700 };

  expect([lines.waitMs(busy), lines.waitMs(route)]).toEqual([700, 0]);
  expect(lines.loadOf(busy).nextDialAtMs).toBe(busy.nextDialAtMs);
});

test('DialLines asks again after a second where no line is free', () => {
  const { lines, route } = openLines({ free: 0, callsPerSecond: 2 });

  expect(lines.waitMs(route)).toBe(1000);
});

test('DialLines has nothing to wait for without a trunk', () => {
  const { lines, route } = openLines(undefined);

  expect([route, lines.waitMs(route)]).toEqual([undefined, 0]);
});

test('DialLines learns a tenth of how long each call holds its line', () => {
  const { clock, lines, route = UNLIMITED } = openLines({ free: 1, callsPerSecond: 2 });
  const before = lines.loadOf(route);
  const release = lines.dialled(route);
  clock.advance(20_000);

  release();

  expect(before).toEqual({
    ...{ nextDialAtMs: 0, callsPerSecond: 2, linesFree: 1, linesTotal: 3, lineHeldMs: 120_000 },
  });
  expect(lines.loadOf(route)).toMatchObject({ nextDialAtMs: 10_500, lineHeldMs: 110_000 });
});

test.each([
  ['closes', () => Promise.resolve()],
  ['cannot be closed', () => Promise.reject(new Error('no'))],
])('lineClosed waits for no longer once the line %s', async (_, hangUp) => {
  const clock = new FakeClock();

  await lineClosed({ hangUp } as unknown as Leg, clock);

  expect(clock.waiting).toBe(0);
});

test('lineClosed waits five seconds for a line that does not close', async () => {
  const clock = new FakeClock();
  let isOver = false;
  const leg = { hangUp: () => new Promise(() => undefined) } as unknown as Leg;
  const closed = lineClosed(leg, clock).then(() => {
    isOver = true;
  });
  clock.advance(4999);
  await new Promise((resolve) => setImmediate(resolve));
  const early = isOver;

  clock.advance(1);
  await closed;

  expect(early).toBe(false);
});

function openRounds() {
  const clock = new FakeClock();
  const meter = new LevelMeter();
  const audio = Object.assign(new ScriptedAudio(), { meter });
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const call = { callId: 'call_1', scope, audio, transfer: () => 'not-in-progress' as const };
  const inProgress = [call];
  const rounds = new LevelRounds({ clock, inProgress: () => inProgress });
  return { clock, meter, rounds, scope, inProgress };
}

test('LevelRounds measures until the last of those who look has gone', () => {
  const { clock, meter, rounds, scope } = openRounds();
  const stopFirst = rounds.watch(scope, () => undefined);
  const stopSecond = rounds.watch(scope, () => undefined);

  stopFirst();
  stopFirst();
  const afterFirst = [meter.isOn, clock.waiting];
  stopSecond();

  expect([afterFirst, [meter.isOn, clock.waiting]]).toEqual([
    [true, 1],
    [false, 0],
  ]);
});

test('LevelRounds that is closed measures nothing and reports nothing', () => {
  const { clock, meter, rounds, scope } = openRounds();
  const told: unknown[] = [];
  rounds.watch(scope, (levels) => told.push(levels));

  rounds.close();
  rounds.close();
  clock.advance(1000);

  expect([meter.isOn, clock.waiting, told]).toEqual([false, 0, []]);
});

test('LevelRounds measures a call again that has come back', () => {
  const { clock, meter, rounds, scope, inProgress } = openRounds();
  rounds.watch(scope, () => undefined);
  const gone = inProgress.splice(0);
  clock.advance(250);
  const wasOn = meter.isOn;

  inProgress.push(...gone);
  clock.advance(250);

  expect([wasOn, meter.isOn]).toEqual([false, true]);
});
