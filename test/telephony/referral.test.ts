/** A far end that was asked by REFER: what it tells too late, or never. */
import { expect, test } from 'vitest';
import { COLLEAGUE, openPair } from './scripted-pair.ts';
import { response, settle } from './scripted-srf.ts';

/** A far end that agrees to every REFER, and tells of each what the test says. */
function openReferring() {
  const pair = openPair({ transferBy: 'refer' });
  const { dialog } = pair.first;
  let sequence = 1;
  dialog.request = async (options) => {
    dialog.sent.push(options);
    sequence += 1;
    return response(202, { headers: { CSeq: `${sequence} ${options.method}` } });
  };
  const notify = (body: string, event: string) =>
    dialog.receive('notify', {
      headers: { Event: event, 'Subscription-State': 'terminated' },
      body,
    });
  return { ...pair, notify };
}

test('SrfLeg gives up a REFER without an outcome after 3 minutes, and goes on', async () => {
  const { first, methods } = openReferring();

  const outcome = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  await settle();
  first.clock.advance(180_000);

  expect(await outcome).toMatchObject({ name: 'CarrierError', sipStatus: 408 });
  expect(methods(first)).toEqual(['REFER']);
  expect(first.causes).toEqual([]);
});

test.each([
  '200 OK',
  '486 Busy Here',
])('SrfLeg takes the late %s of a REFER that it gave up for nothing that the next one has done', async (late) => {
  const { first, notify } = openReferring();
  const givenUp = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  await settle();
  first.clock.advance(180_000);
  await givenUp;
  notify(`SIP/2.0 ${late}`, 'refer;id=2');

  let isSettled = false;
  const next = first.leg.transfer(COLLEAGUE).finally(() => {
    isSettled = true;
  });
  await settle();
  notify(`SIP/2.0 ${late}`, 'refer;id=2');
  await settle();
  const isEarly = isSettled;
  notify('SIP/2.0 200 OK', 'refer ; id=3');
  await next;

  expect(isEarly).toBe(false);
  expect(first.causes).toEqual([{ kind: 'transferred' }]);
});

test('SrfLeg goes on when REFER itself is answered too late, or never', async () => {
  const { first, methods } = openPair({ transferBy: 'refer' });
  const answer = Promise.withResolvers<ReturnType<typeof response>>();
  first.dialog.request = (options) => {
    first.dialog.sent.push(options);
    return answer.promise;
  };

  const outcome = first.leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  first.clock.advance(32_000);
  const refusal = await outcome;
  first.clock.advance(28_000);
  answer.resolve(response(202));
  await settle();

  expect(refusal).toMatchObject({ name: 'CarrierError', sipStatus: 408 });
  expect(methods(first)).toEqual(['REFER']);
  expect(first.causes).toEqual([]);
});
