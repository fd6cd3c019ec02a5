/** A call that comes in and that we cannot take after all: what its carrier is told, and what we are. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { openSrf, type SrfClient } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfIncomingCall } from '../../src/telephony/drachtio/leg/incoming-call.ts';
import { MediaError, type MediaGateway } from '../../src/telephony/media-gateway.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { KeptAnswer, PlainEndpoint, request, ScriptedDialog } from './scripted-srf.ts';

function ring(srf: SrfClient, open: MediaGateway['open']) {
  const answer = new KeptAnswer();
  const call = new SrfIncomingCall({
    ...{ srf, server: 'sip', request: request(), answer, trunk: undefined, journal: undefined },
    media: { start: async () => undefined, stop: async () => undefined, open },
    ...{ clock: new FakeClock(), log: silentLogger, onOver: () => undefined },
  });
  return { call, answer };
}

/** A call whose sound cannot be set up. */
function ringWithout(problem: MediaError) {
  return ring(openSrf(), () => Promise.reject(problem));
}

/** A call whose answer the server refuses. */
function ringRefused(why: string) {
  const createUAS: SrfClient['createUAS'] = (_request, _answer, _parts, done) => done(why);
  const endpoint = new PlainEndpoint();
  const srf = Object.assign(openSrf(), { createUAS });
  return { ...ring(srf, async () => endpoint), endpoint };
}

test.each([
  [503, { 'Retry-After': '30' }],
  [488, { Warning: '399 offhook "Cannot open a line"' }],
  [500, {}],
])('SrfIncomingCall that has no sound is refused with %i: 503 says when to come again, 488 says why', async (sipStatus, headers) => {
  const { call, answer } = ringWithout(new MediaError('Cannot open a line', sipStatus));

  await call.answer().catch(() => undefined);

  expect(answer.sent).toEqual({ status: sipStatus, parts: { headers } });
});

test('SrfIncomingCall that still rings when the server stops is refused with 503 and Retry-After', async () => {
  const { call, answer } = ringWithout(new MediaError('never asked', 500));

  await call.end();

  expect(answer.sent).toEqual({ status: 503, parts: { headers: { 'Retry-After': '30' } } });
});

test.each([
  ['transaction not found', 487],
  ['Response not sent due to unknown transaction', 487],
  ['no transport', 500],
])('SrfIncomingCall whose answer is refused with "%s" ends with %i', async (why, sipStatus) => {
  const { call, endpoint } = ringRefused(why);

  const answered = call.answer();

  await expect(answered).rejects.toMatchObject({ name: 'CarrierError', sipStatus });
  expect(endpoint.isClosed).toBe(true);
});

test.each([
  ['describes no usable sound', 'unacceptable', 488],
  ['never comes, since the caller hangs up', undefined, 487],
])('SrfIncomingCall whose ACK %s is the far end’s failure, not ours', async (_case, body, sipStatus) => {
  const dialog = new ScriptedDialog();
  const taken = Promise.withResolvers<void>();
  const createUAS: SrfClient['createUAS'] = (_request, _answer, _parts, done) => {
    done(null, dialog);
    taken.resolve();
  };
  const srf = Object.assign(openSrf(), { createUAS });
  const { call } = ring(srf, async () => new PlainEndpoint());

  const answered = call.answer();
  await taken.promise;
  if (body === undefined) dialog.receive('destroy');
  else dialog.receive('ack', { body });

  await expect(answered).rejects.toMatchObject({ name: 'CarrierError', sipStatus });
});
