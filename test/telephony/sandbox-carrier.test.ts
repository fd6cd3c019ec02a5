/** The played telephone network: who picks up, who does not, and how it stops. */
import { expect, test } from 'vitest';
import { CarrierError } from '../../src/telephony/carrier.ts';
import { SandboxLeg } from '../../src/telephony/sandbox/sandbox-leg.ts';
import { FROM, openCarrier, openLeg, settle, statusOf } from './sandbox-world.ts';

/** A voice whose first chunk comes when, and if, the promise does. */
function voiceOf(next: () => Promise<IteratorResult<Int16Array>>): AsyncIterable<Int16Array> {
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

test.each([
  ['+12025550100', 28_000, 480],
  ['+12025550101', 1000, 486],
])('SandboxCarrier lets %s ring for %d ms and then says %d', async (to, ringingMs, sipStatus) => {
  const { clock, place } = openCarrier();

  const status = statusOf(place(to).answered);
  clock.advance(ringingMs - 1);
  await settle();
  const isStillRinging = clock.waiting > 0;
  clock.advance(1);

  expect(isStillRinging).toBe(true);
  expect(await status).toBe(sipStatus);
});

test('SandboxCarrier gives up with 487 when it rings for too long', async () => {
  const { clock, place } = openCarrier();

  const status = statusOf(place('+12025550100', 5000).answered);
  clock.advance(5000);

  expect(await status).toBe(487);
});

test('SandboxCarrier gives up with 487 when it is told so, and leaves no timer behind', async () => {
  const { clock, place } = openCarrier();

  const outgoing = place('+12025550199');
  outgoing.cancel();
  outgoing.cancel();

  expect(await statusOf(outgoing.answered)).toBe(487);
  expect(clock.waiting).toBe(0);
});

test('SandboxCarrier hangs up a call that is cancelled after its answer', async () => {
  const { outgoing, causes } = await openLeg();

  outgoing.cancel();
  await settle();

  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test('SandboxCarrier reports ringing and both numbers', async () => {
  const { carrier, place } = openCarrier();
  let rings = 0;

  const outgoing = place('+12025550199');
  outgoing.onRinging(() => {
    rings += 1;
  });
  await settle();
  const incoming = carrier.ringIn({ from: FROM, to: '+12025550106', scenario: 'friendly' });

  expect(rings).toBe(1);
  expect(outgoing.carrierCallSid).toBe('sid_1');
  expect(incoming).toMatchObject({ carrierCallSid: 'sid_2', from: FROM, to: '+12025550106' });
});

test('SandboxCarrier lets a caller give up before the answer', async () => {
  const { carrier, clock } = openCarrier();
  let cancels = 0;

  const incoming = carrier.ringIn({ from: FROM, to: FROM, scenario: 'no_answer' });
  incoming.onCancelled(() => {
    cancels += 1;
  });
  const status = statusOf(incoming.answer());
  clock.advance(28_000);

  expect(await status).toBe(480);
  expect(cancels).toBe(1);
});

test('SandboxCarrier synthesizes each sentence once for all parties', async () => {
  const { clock, asked, place } = openCarrier();

  place('+12025550199');
  place('+12025550198');
  clock.advance(2000);
  await settle();
  place('+12025550197');

  expect(new Set(asked).size).toBe(asked.length);
  expect(asked).toHaveLength(3);
});

test('SandboxCarrier does without the voice of a party when there is none, and tries again for the next call', async () => {
  const { clock, asked, place } = openCarrier(() =>
    voiceOf(() => Promise.reject(new Error('no voice'))),
  );

  const outgoing = place('+12025550199');
  clock.advance(2000);
  const leg = await outgoing.answered;
  place('+12025550198');

  expect(leg).toBeInstanceOf(SandboxLeg);
  expect(asked).toHaveLength(6);
});

test('SandboxCarrier waits for the voice of a party, up to a limit', async () => {
  const { clock, place } = openCarrier(() => voiceOf(() => new Promise(() => undefined)));
  let isAnswered = false;

  void place('+12025550199').answered.then(() => {
    isAnswered = true;
  });
  clock.advance(2000);
  await settle();
  clock.advance(19_999);
  await settle();
  const wasAnsweredBefore = isAnswered;
  clock.advance(1);
  await settle();

  expect(wasAnsweredBefore).toBe(false);
  expect(isAnswered).toBe(true);
});

test('SandboxCarrier places nothing once it drains, and what goes on goes on', async () => {
  const { carrier, place, causes } = await openLeg();

  carrier.drain();

  expect(() => place('+12025550199')).toThrow(CarrierError);
  expect(causes).toEqual([]);
});

test('SandboxCarrier ends what rings and what talks when it stops', async () => {
  const { carrier, place, causes } = await openLeg();

  const ringing = statusOf(place('+12025550199').answered);
  await carrier.stop();
  await carrier.stop();

  expect(await ringing).toBe(487);
  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test('SandboxCarrier has a line for every number, and is always ready', async () => {
  const { carrier } = openCarrier();

  await carrier.start();

  expect(carrier.routeFor()).toMatchObject({ free: Number.POSITIVE_INFINITY });
  expect(carrier.reports()).toMatchObject([{ name: 'sandbox', isReady: true }]);
});
