/** An answered caller who has yet to show that it is there. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import { openSrf, type SrfClient } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfIncomingCall } from '../../src/telephony/drachtio/leg/incoming-call.ts';
import type { MediaGateway } from '../../src/telephony/media-gateway.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { KeptAnswer, PlainEndpoint, request, ScriptedDialog, settle } from './scripted-srf.ts';

/** A call whose 200 is out. */
async function answering({ hasArrived = false } = {}) {
  const dialog = new ScriptedDialog();
  const endpoint = new PlainEndpoint();
  endpoint.session.hasArrived = hasArrived;
  const wishes: Parameters<MediaGateway['open']>[0][] = [];
  const createUAS: SrfClient['createUAS'] = (_request, _answer, _parts, done) => {
    done(null, dialog);
  };
  const call = new SrfIncomingCall({
    srf: Object.assign(openSrf(), { createUAS }),
    server: 'sip',
    request: request({ headers: { 'Content-Type': 'application/sdp' }, body: 'offer' }),
    ...{ answer: new KeptAnswer(), trunk: undefined, journal: undefined },
    media: {
      start: async () => undefined,
      stop: async () => undefined,
      open: async (wish) => {
        wishes.push(wish);
        return endpoint;
      },
    },
    ...{ clock: new FakeClock(), log: silentLogger, onOver: () => undefined },
  });
  const state = { isAnswered: false };
  const answered = call.answer();
  answered.then(
    () => {
      state.isAnswered = true;
    },
    () => undefined,
  );
  await settle();
  return { call, dialog, endpoint, wishes, answered, state };
}

test('SrfIncomingCall is not answered by its 200, and its line sends nothing', async () => {
  const { endpoint, wishes, state } = await answering();

  expect(wishes).toMatchObject([{ isHeld: true }]);
  expect([state.isAnswered, endpoint.session.isConfirmed]).toEqual([false, false]);
});

test('SrfIncomingCall is answered by its ACK, and its line speaks', async () => {
  const { answered, dialog, endpoint } = await answering();

  dialog.receive('ack');
  await answered;

  expect(endpoint.session.isConfirmed).toBe(true);
});

test('SrfIncomingCall is answered by the first packet of its caller where the ACK is lost', async () => {
  const { answered, endpoint } = await answering();

  endpoint.report({ kind: 'media-arrived' });
  await answered;

  expect(endpoint.session.isConfirmed).toBe(true);
});

test('SrfIncomingCall is answered by a first packet that overtook the news of its 200', async () => {
  const { state, endpoint } = await answering({ hasArrived: true });

  expect([state.isAnswered, endpoint.session.isConfirmed]).toEqual([true, true]);
});

test('SrfIncomingCall was answered where its caller hangs up and the ACK is lost', async () => {
  const { answered, dialog } = await answering();
  const causes: ReleaseCause[] = [];

  dialog.receive('destroy', { source: 'network' });
  (await answered).onReleased((cause) => causes.push(cause));

  expect(causes).toEqual([{ kind: 'far-end' }]);
});

test('SrfIncomingCall has no call where SIP gives up waiting for its ACK', async () => {
  const { answered, dialog, endpoint } = await answering();

  dialog.receive('destroy', { source: 'application' });

  await expect(answered).rejects.toMatchObject({ name: 'CarrierError', sipStatus: 487 });
  expect(endpoint.isClosed).toBe(true);
});

test('SrfIncomingCall that is not confirmed is ended by BYE when it is rejected after all', async () => {
  const { call, answered, dialog } = await answering();

  call.reject(503);

  await expect(answered).rejects.toMatchObject({ sipStatus: 487 });
  expect(dialog.sent.map(({ method }) => method)).toEqual(['BYE']);
});
