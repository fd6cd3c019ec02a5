/** When a trunk without registration counts as down, and when it is back. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type {
  SrfCallback,
  SrfClient,
  SrfRequestOptions,
  SrfResponse,
  SrfSentRequest,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { TrunkProbe } from '../../src/telephony/drachtio/carrier/trunk-registrations.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { trunkTo } from './plane.ts';
import { request, response } from './scripted-srf.ts';

const ALIVE = 'calls go to 192.0.2.1:5070, without registration';
const SILENT = 'no answer to OPTIONS from 192.0.2.1:5070';
const BAD_GATEWAY = '192.0.2.1:5070 is out of reach or answers OPTIONS with 503';

/** A proxy that is silent until the test says otherwise; each request is kept with its answerer. */
function openProbe(fields: object = {}) {
  const clock = new FakeClock();
  const world = {
    clock,
    sent: [] as { atMs: number; uri: string; options: SrfRequestOptions }[],
    answerers: [] as ((status: number) => void)[],
    /** Status of the answer at once; none: silence. */
    status: undefined as number | undefined,
    /** What the SIP server says instead of sending. */
    refusal: undefined as string | undefined,
    /** Tells the refusal to each request that waits for it. */
    refuse: [] as (() => void)[],
  };
  const srf = {
    request(uri: string, options: SrfRequestOptions, callback: SrfCallback<SrfSentRequest>) {
      world.sent.push({ atMs: clock.nowMs(), uri, options });
      world.refuse.push(() => callback('no connection'));
      if (world.refusal !== undefined) return callback(world.refusal);
      callback(undefined, {
        ...request(),
        cancel: () => undefined,
        on: (_event, listener: (response: SrfResponse) => void) => {
          world.answerers.push((status) => listener(response(status)));
          if (world.status !== undefined) listener(response(world.status));
        },
      });
    },
  } as unknown as SrfClient;
  const probe = new TrunkProbe({
    srf,
    trunk: trunkTo('192.0.2.1:5070', fields),
    clock,
    log: silentLogger,
    random: () => 0.5,
    serverProblem: () => undefined,
  });
  return Object.assign(world, { probe });
}

test('TrunkProbe asks soon after the start, and then at its interval', () => {
  const world = openProbe({ domain: 'carrier.example', optionsIntervalSeconds: 60 });
  world.status = 200;

  world.probe.start();
  world.clock.advance(130_000);

  expect(world.sent.map(({ atMs }) => atMs)).toEqual([1000, 61_000, 121_000]);
  expect(world.sent[0]).toMatchObject({
    uri: 'sip:carrier.example',
    options: { method: 'OPTIONS', proxy: 'sip:192.0.2.1:5070' },
  });
});

test.each([
  100, 200, 302, 401, 404, 405, 407, 480, 483, 500, 501, 604,
])('TrunkProbe takes %i for a sign of life', (status) => {
  const world = openProbe();
  world.status = status;

  world.probe.start();
  world.clock.advance(300_000);

  expect(world.probe.report()).toEqual({ name: 'trunk peer', isReady: true, state: ALIVE });
  expect(world.probe.status()).toEqual({ state: 'ready', detail: ALIVE, expiresAt: null });
});

test('TrunkProbe takes a proxy for alive until two requests in a row were missed', () => {
  const world = openProbe();
  const states: string[] = [];

  world.probe.start();
  // Asked at 1 s, missed at 5 s, asked again at 6 s, missed again at 10 s.
  for (const ms of [9_999, 1]) {
    world.clock.advance(ms);
    states.push(world.probe.report().state);
  }

  expect(states).toEqual([ALIVE, SILENT]);
  expect(world.probe.status()).toMatchObject({ state: 'failed', detail: SILENT });
});

test('TrunkProbe forgives one lost request', () => {
  const world = openProbe();

  world.probe.start();
  world.clock.advance(5_500);
  world.status = 200;
  world.clock.advance(1_000);
  world.status = undefined;
  // The next request is at 36 s, and is missed alone again.
  world.clock.advance(34_500);

  expect(world.sent.map(({ atMs }) => atMs)).toEqual([1000, 6000, 36_000, 41_000]);
  expect(world.probe.report().isReady).toBe(true);
});

test('TrunkProbe takes the late answer of a proxy that has come back', () => {
  const world = openProbe();
  world.probe.start();
  world.clock.advance(20_000);
  const before = world.probe.report().isReady;

  world.answerers[1]?.(200);

  expect([before, world.probe.report().isReady]).toEqual([false, true]);
});

test.each([
  [503, BAD_GATEWAY],
  [408, SILENT],
])('TrunkProbe takes %i, which the SIP server says of a proxy out of reach, for none', (status, state) => {
  const world = openProbe();
  world.status = status;

  world.probe.start();
  world.clock.advance(12_000);

  expect(world.probe.report()).toMatchObject({ isReady: false, state });
});

test('TrunkProbe counts a request once that was missed and then answered with 503', () => {
  const world = openProbe();
  world.probe.start();
  world.clock.advance(5_500);

  world.answerers[0]?.(503);

  expect(world.probe.report().isReady).toBe(true);
});

test('TrunkProbe says why the SIP server does not send the request', () => {
  const world = openProbe();
  world.refusal = 'can not send request to myself';

  world.probe.start();
  world.clock.advance(3_000);

  const state = 'the SIP server cannot send OPTIONS: can not send request to myself';
  expect(world.probe.report()).toMatchObject({ isReady: false, state });
});

test('TrunkProbe goes on asking a proxy that is down, at the same interval', () => {
  const world = openProbe();

  world.probe.start();
  world.clock.advance(10 * 60_000);

  expect(world.sent.length).toBeLessThanOrEqual(20);
  expect(world.sent.length).toBeGreaterThan(15);
});

test('TrunkProbe that is stopped asks nothing and hears nothing', () => {
  const world = openProbe();
  world.probe.start();
  world.clock.advance(7_000);
  world.probe.suspend();

  world.answerers[0]?.(200);
  world.refuse[1]?.();
  world.clock.advance(600_000);

  expect(world.sent).toHaveLength(2);
  expect(world.clock.waiting).toBe(0);
  expect(world.probe.report().isReady).toBe(true);
});

test('TrunkProbe that is stopped keeps what it knows until it is told otherwise', () => {
  const world = openProbe();
  world.probe.start();
  world.clock.advance(12_000);

  world.probe.suspend();
  world.answerers[0]?.(200);
  world.probe.start();

  expect(world.probe.report().isReady).toBe(false);
});

test('TrunkProbe is uncertain of a proxy that has never answered, until a call shows that it ignores OPTIONS', () => {
  const world = openProbe();
  const { probe } = world;
  probe.start();
  world.clock.advance(12_000);
  const before = [probe.isUncertain, probe.report().isReady];

  probe.inviteAnswered();
  world.clock.advance(300_000);

  expect(before).toEqual([true, false]);
  expect([probe.isUncertain, probe.report()]).toEqual([
    false,
    { name: 'trunk peer', isReady: true, state: `${ALIVE}; it ignores OPTIONS` },
  ]);
});

test.each([
  ['has answered before', 200],
  ['is out of reach for the SIP server', 503],
])('TrunkProbe is certain of a proxy that %s', (_case, status) => {
  const world = openProbe();
  world.status = status;
  world.probe.start();
  world.clock.advance(2_000);

  if (status === 200) world.status = undefined;
  world.clock.advance(60_000);

  expect([world.probe.isUncertain, world.probe.report().isReady]).toEqual([false, false]);
});

test('TrunkProbe holds the silence of a proxy against it that ignored OPTIONS and has answered since', () => {
  const world = openProbe();
  world.probe.start();
  world.clock.advance(12_000);
  world.probe.inviteAnswered();
  world.status = 200;
  world.clock.advance(60_000);
  const between = world.probe.report().state;

  world.status = undefined;
  world.clock.advance(60_000);

  expect([between, world.probe.report().isReady]).toEqual([ALIVE, false]);
});

test('TrunkProbe never asks where the interval is 0', () => {
  const world = openProbe({ optionsIntervalSeconds: 0 });

  world.probe.start();
  world.clock.advance(600_000);

  expect(world.sent).toEqual([]);
  expect(world.probe.report().isReady).toBe(true);
});

test('TrunkProbe spreads its requests by a tenth of the interval', () => {
  const chances = [0, 0, 0.999];
  const world = openProbe();
  world.status = 200;
  const probe = new TrunkProbe({
    srf: { request: srfOf(world.sent, world.clock) } as unknown as SrfClient,
    trunk: trunkTo('192.0.2.1'),
    clock: world.clock,
    log: silentLogger,
    random: () => chances.shift() ?? 0.5,
    serverProblem: () => undefined,
  });

  probe.start();
  world.clock.advance(61_000);

  expect(world.sent.map(({ atMs }) => Math.round(atMs / 100) / 10)).toEqual([0, 27, 60]);
});

/** Answers 200 at once. */
function srfOf(
  sent: { atMs: number; uri: string; options: SrfRequestOptions }[],
  clock: FakeClock,
) {
  return (uri: string, options: SrfRequestOptions, callback: SrfCallback<SrfSentRequest>) => {
    sent.push({ atMs: clock.nowMs(), uri, options });
    callback(undefined, {
      ...request(),
      cancel: () => undefined,
      on: (_event, listener: (response: SrfResponse) => void) => listener(response(200)),
    });
  };
}
