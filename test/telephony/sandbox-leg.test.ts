/** The leg of a simulated call: how it ends, and for which cause. */
import { expect, test } from 'vitest';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import { openLeg, statusOf } from './sandbox-world.ts';

test('SandboxLeg is released by its transfer', async () => {
  const { leg, clock, causes } = await openLeg();

  const transferred = leg.transfer('+15005550199');
  clock.advance(1500);
  await transferred;

  expect(causes).toEqual([{ kind: 'transferred' }]);
});

test('SandboxLeg refuses a second transfer at a time, and any after its release', async () => {
  const { leg, clock } = await openLeg();

  const first = statusOf(leg.transfer('+15005550199'));
  const second = await statusOf(leg.transfer('+15005550199'));
  await leg.hangUp();
  clock.advance(1500);
  const third = await statusOf(leg.transfer('+15005550199'));

  expect([await first, second, third]).toEqual([487, 491, 481]);
});

test('SandboxLeg is released once, for the first cause, also to a listener that comes late', async () => {
  const { leg } = await openLeg('+12025550102');
  const causes: ReleaseCause[] = [];

  await leg.hangUp();
  await leg.hangUp();
  leg.onReleased((cause) => causes.push(cause));

  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test.each([
  ['+12025550102', 'far-end', 1000],
  ['+12025550106', 'broken', 20_000],
])('SandboxLeg to %s ends by itself: %s', async (to, kind, withinMs) => {
  const { clock, causes, leg } = await openLeg(to);

  leg.audio.begin(1);
  leg.audio.say(1, new Int16Array(8000));
  leg.audio.finish(1);
  clock.advance(withinMs);

  expect(causes).toMatchObject([{ kind }]);
});

test('SandboxLeg gives the disk real time from its end on', async () => {
  const { clock, leg, legClock } = await openLeg('+12025550103', 10);
  const openedMs = legClock.nowMs();

  clock.advance(100);
  const talkedMs = legClock.nowMs() - openedMs;
  void leg.hangUp();
  clock.advance(100);

  expect(talkedMs).toBe(1000);
  expect(legClock.nowMs() - openedMs).toBe(1100);
});

test.each([
  0, 30, 200, 1500,
])('SandboxLeg hangs up after the same piece of the greeting, which comes after %d ms', async (delayMs) => {
  const { clock, causes, leg, legClock } = await openLeg('+12025550102', 10);
  let startedAtMs = 0;
  leg.audio.onEvent((event) => {
    if (event.kind === 'playout-started') startedAtMs = event.atMs;
  });
  let heardMs = 0;
  leg.onReleased((cause) => {
    causes.push(cause);
    heardMs = legClock.nowMs() - startedAtMs;
  });

  clock.advance(delayMs);
  leg.audio.begin(1);
  leg.audio.say(1, new Int16Array(24_000));
  clock.advance(1000);

  expect(causes).toEqual([{ kind: 'far-end' }]);
  expect(heardMs).toBeGreaterThanOrEqual(600);
  expect(heardMs).toBeLessThan(660);
});
