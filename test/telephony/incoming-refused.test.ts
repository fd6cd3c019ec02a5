/** A call that comes in and that we cannot take after all: what its carrier is told. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { SrfIncomingCall } from '../../src/telephony/drachtio/incoming-call.ts';
import { openSrf } from '../../src/telephony/drachtio/srf.ts';
import { MediaError } from '../../src/telephony/media-gateway.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { KeptAnswer, request } from './scripted-srf.ts';

/** A call whose sound cannot be set up. */
function ringWithout(problem: MediaError) {
  const answer = new KeptAnswer();
  const call = new SrfIncomingCall({
    ...{ srf: openSrf(), request: request(), answer, trunk: undefined, book: undefined },
    media: {
      start: async () => undefined,
      stop: async () => undefined,
      open: () => Promise.reject(problem),
    },
    ...{ clock: new FakeClock(), log: silentLogger, onOver: () => undefined },
  });
  return { call, answer };
}

test.each([
  [503, { 'Retry-After': '30' }],
  [488, {}],
])('SrfIncomingCall that has no sound is refused with %i, and 503 says when to come again', async (sipStatus, headers) => {
  const { call, answer } = ringWithout(new MediaError('Cannot open a line', sipStatus));

  await call.answer().catch(() => undefined);

  expect(answer.sent).toEqual({ status: sipStatus, parts: { headers } });
});

test('SrfIncomingCall that still rings when the server stops is refused with 503 and Retry-After', async () => {
  const { call, answer } = ringWithout(new MediaError('never asked', 500));

  await call.end();

  expect(answer.sent).toEqual({ status: 503, parts: { headers: { 'Retry-After': '30' } } });
});
