import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type { SrfResponse, SrfSentInvite } from '../../src/telephony/drachtio/carrier/srf.ts';
import { EarlySession } from '../../src/telephony/drachtio/leg/negotiation.ts';
import {
  CONTACT,
  KeptAnswer,
  PlainEndpoint,
  request,
  response,
  ScriptedDialog,
  settle,
} from './scripted-srf.ts';

const SDP = { 'Content-Type': 'application/sdp' };

/** A provisional response of the far end with that tag. */
function progress(sdp: string, { tag = 'theirs', isReliable = false } = {}): SrfResponse {
  const headers = { ...SDP, To: `<sip:b@192.0.2.1>;tag=${tag}` };
  return response(183, {
    headers: isReliable ? { ...headers, Require: '100rel' } : headers,
    body: sdp,
  });
}

/** The 200 of the far end with that tag, as drachtio-srf hands it out. */
function answered(sdp = '', tag = 'theirs'): ScriptedDialog {
  const dialog = new ScriptedDialog();
  return Object.assign(dialog, {
    sip: { ...dialog.sip, remoteTag: tag },
    res: response(200, { headers: sdp === '' ? {} : SDP, body: sdp }),
  });
}

function openSession() {
  const endpoint = new PlainEndpoint();
  const session = new EarlySession({ endpoint, log: silentLogger });
  const { get } = request({ headers: { Contact: CONTACT } });
  const invite = Object.assign(new EventEmitter(), { get });
  // As createUAC does it.
  invite.on('update', (_, answer: KeptAnswer) => answer.send(200, { body: 'our first offer' }));
  const heard = (each: SrfResponse) =>
    session.provisional(each, invite as unknown as SrfSentInvite);
  const update = (sdp: string, tag = 'theirs') => {
    const answer = new KeptAnswer();
    const headers = { ...SDP, From: `<sip:b@192.0.2.1>;tag=${tag}` };
    invite.emit('update', request({ method: 'UPDATE', headers, body: sdp }), answer);
    return answer;
  };
  return { endpoint, session, heard, update };
}

test('EarlySession takes the answer of the 200', async () => {
  const { endpoint, session, heard } = openSession();

  heard(progress('early'));
  await session.settle(answered('answer'));

  expect(endpoint.negotiated).toEqual(['early', 'answer']);
});

test('EarlySession refuses a call without SDP', async () => {
  const { session, heard } = openSession();
  heard(progress(''));

  const settled = session.settle(answered());

  await expect(settled).rejects.toMatchObject({ name: 'MediaError', sipStatus: 488 });
});

test.each([
  true,
  false,
])('EarlySession keeps early media where the 200 describes nothing (reliable: %s)', async (isReliable) => {
  const { endpoint, session, heard } = openSession();
  heard(progress('early', { isReliable }));

  await session.settle(answered());

  expect(endpoint.negotiated).toEqual(['early']);
});

test('EarlySession does not take what another far end has said for the answer', async () => {
  const { session, heard } = openSession();
  heard(progress('of another', { tag: 'another', isReliable: true }));

  const settled = session.settle(answered());

  await expect(settled).rejects.toMatchObject({ sipStatus: 488 });
});

test('EarlySession goes back to what the one who answers had said', async () => {
  const { endpoint, session, heard } = openSession();
  heard(progress('of this one', { isReliable: true }));
  heard(progress('of another', { tag: 'another', isReliable: true }));

  await session.settle(answered());

  expect(endpoint.negotiated).toEqual(['of this one', 'of another', 'of this one']);
});

test('EarlySession refuses a call whose only description cannot be used', async () => {
  const { session, heard } = openSession();
  heard(progress('unacceptable', { isReliable: true }));

  const settled = session.settle(answered());

  await expect(settled).rejects.toMatchObject({ sipStatus: 488 });
});

test('EarlySession answers the offer of an UPDATE, and keeps to it', async () => {
  const { endpoint, session, heard, update } = openSession();
  heard(progress('early', { isReliable: true }));

  const answer = update('moved');
  await settle();
  heard(progress('early', { isReliable: true }));
  await session.settle(answered('early'));

  expect(answer.sent).toMatchObject({
    status: 200,
    parts: { body: 'answer to moved', headers: { ...SDP, Contact: CONTACT } },
  });
  expect(endpoint.negotiated).toEqual(['early', 'moved']);
});

test('EarlySession refuses an offer that meets its own: 491', async () => {
  const { endpoint, heard, update } = openSession();
  heard(progress('early'));
  heard(progress('of another', { tag: 'another', isReliable: true }));

  const refused = update('moved');
  await settle();

  expect(refused.sent).toEqual({ status: 491, parts: {} });
  expect(endpoint.negotiated).toEqual(['early', 'of another']);
});

test('EarlySession asks for patience while it answers another offer', async () => {
  const { heard, update } = openSession();
  heard(progress('early', { isReliable: true }));

  update('first');
  const second = update('second');
  await settle();
  const third = update('third');
  await settle();

  expect(second.sent).toMatchObject({ status: 500, parts: { headers: { 'Retry-After': '1' } } });
  expect(third.sent).toMatchObject({ status: 200 });
});

test('EarlySession stays with what was agreed on where an offer cannot be used', async () => {
  const { endpoint, session, heard, update } = openSession();
  heard(progress('early', { isReliable: true }));

  const refused = update('unacceptable');
  await settle();
  await session.settle(answered());

  expect(refused.sent).toMatchObject({ status: 488 });
  expect(endpoint.negotiated).toEqual(['early']);
});

test('EarlySession answers an UPDATE without offer', () => {
  const { heard, update } = openSession();
  heard(progress(''));

  const answer = update('');

  expect(answer.sent).toEqual({ status: 200, parts: { headers: { Contact: CONTACT } } });
});

test('EarlySession remembers no more than 16 far ends', async () => {
  const { endpoint, session, heard } = openSession();

  for (let index = 0; index < 20; index += 1) heard(progress(`${index}`, { tag: `${index}` }));
  await session.settle(answered('answer'));

  expect(endpoint.negotiated).toHaveLength(16 + 1);
});
