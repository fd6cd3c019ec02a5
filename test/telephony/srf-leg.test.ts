import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfLeg, type SrfLegOptions } from '../../src/telephony/drachtio/leg/srf-leg.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { CONTACT, PlainEndpoint, response, ScriptedDialog, settle } from './scripted-srf.ts';

const SDP = { 'Content-Type': 'application/sdp' };
const SIPFRAG = { 'Content-Type': 'message/sipfrag', 'Subscription-State': 'active' };

function openLeg(options: Partial<SrfLegOptions> & { readonly dialog?: ScriptedDialog } = {}) {
  const clock = new FakeClock();
  const dialog = options.dialog ?? new ScriptedDialog();
  const endpoint = new PlainEndpoint();
  const causes: ReleaseCause[] = [];
  const leg = new SrfLeg({
    srf: openSrf(),
    endpoint,
    clock,
    log: silentLogger,
    referDomain: 'carrier.example',
    isAnswerAwaited: false,
    onOver: () => undefined,
    ...options,
    dialog,
  });
  leg.onReleased((cause) => causes.push(cause));
  return { clock, dialog, endpoint, leg, causes };
}

test('SrfLeg hangs up by BYE and closes its port', async () => {
  const { dialog, endpoint, leg, causes } = openLeg();

  await Promise.all([leg.hangUp(), leg.hangUp()]);

  expect(dialog.sent.map(({ method }) => method)).toEqual(['BYE']);
  expect(endpoint.isClosed).toBe(true);
  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test("SrfLeg tells the far end's BYE from one that the server sent by itself", () => {
  const [first, second] = [openLeg(), openLeg()];

  first.dialog.receive('destroy');
  second.dialog.receive('destroy', { source: 'application', headers: { Reason: 'no ACK' } });

  expect(first.causes).toEqual([{ kind: 'far-end' }]);
  expect(second.causes).toEqual([{ kind: 'broken', reason: 'no ACK' }]);
});

test('SrfLeg counts a BYE that crosses its own as its own', async () => {
  const answer = Promise.withResolvers<ReturnType<typeof response>>();
  const { dialog, leg, causes } = openLeg({ dialog: new ScriptedDialog(() => answer.promise) });

  const over = leg.hangUp();
  dialog.receive('destroy');
  answer.resolve(response(481));
  await over;

  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test('SrfLeg tells its end to a listener that comes late', () => {
  const { dialog, leg } = openLeg();
  const causes: ReleaseCause[] = [];

  dialog.receive('destroy');
  leg.onReleased((cause) => causes.push(cause));

  expect(causes).toEqual([{ kind: 'far-end' }]);
});

test('SrfLeg hangs up when no audio comes any more', async () => {
  const { dialog, endpoint, causes } = openLeg();

  endpoint.report({ kind: 'media-lost' });
  await settle();

  expect(dialog.sent.map(({ method }) => method)).toEqual(['BYE']);
  expect(causes).toEqual([{ kind: 'broken', reason: 'no audio comes' }]);
});

test('SrfLeg answers a new offer, refuses one that it cannot use, and goes on', async () => {
  const { dialog, endpoint, causes } = openLeg();

  const held = dialog.receive('modify', { headers: SDP, body: 'hold' });
  await settle();
  const refused = dialog.receive('modify', { headers: SDP, body: 'unacceptable' });
  await settle();

  expect(held.sent).toMatchObject({
    status: 200,
    parts: { body: 'answer to hold', headers: { Contact: CONTACT } },
  });
  expect(refused.sent).toMatchObject({ status: 488 });
  expect(endpoint.negotiated).toEqual(['hold']);
  expect(causes).toEqual([]);
});

test('SrfLeg asks for patience when offers overlap', () => {
  const { dialog } = openLeg();

  dialog.receive('modify', { headers: SDP, body: 'first' });
  const second = dialog.receive('update', { headers: SDP, body: 'second' });

  expect(second.sent).toMatchObject({ status: 500, parts: { headers: { 'Retry-After': '1' } } });
});

test('SrfLeg refuses an offer that meets its own: 491', async () => {
  const { dialog, endpoint } = openLeg();
  dialog.receive('modify');

  const early = dialog.receive('update', { headers: SDP, body: 'moved' });
  dialog.receive('ack', { headers: SDP, body: 'their answer' });
  await settle();
  const late = dialog.receive('update', { headers: SDP, body: 'moved' });
  await settle();

  expect(early.sent).toEqual({ status: 491, parts: {} });
  expect(late.sent).toMatchObject({ status: 200 });
  expect(endpoint.negotiated).toEqual(['their answer', 'moved']);
});

test('SrfLeg offers where the re-INVITE has no offer, and takes the answer from the ACK', async () => {
  const { dialog, endpoint } = openLeg();

  const answer = dialog.receive('modify');
  dialog.receive('ack', { headers: SDP, body: 'their answer' });
  await settle();

  expect(answer.sent).toMatchObject({
    status: 200,
    parts: { body: 'our offer', headers: { Contact: CONTACT } },
  });
  expect(endpoint.negotiated).toEqual(['their answer']);
});

test('SrfLeg answers an UPDATE that only refreshes the session', () => {
  const { dialog } = openLeg();

  const answer = dialog.receive('update');

  expect(answer.sent).toEqual({ status: 200, parts: { headers: { Contact: CONTACT } } });
});

test.each([
  ['a digit', 'application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', 200, ['5']],
  ['nothing', '', '', 200, []],
  ['something else', 'text/plain', 'hello', 415, []],
])('SrfLeg answers an INFO with %s', (_, type, body, status, expected) => {
  const { dialog, leg } = openLeg();
  const digits: string[] = [];
  leg.onDigit((digit) => digits.push(digit));

  const answer = dialog.receive('info', { headers: { 'Content-Type': type }, body });

  expect(answer.sent?.status).toBe(status);
  expect(digits).toEqual(expected);
});

test('SrfLeg refuses to be transferred by the far end', () => {
  const { dialog } = openLeg();

  const answer = dialog.receive('refer', { headers: { 'Refer-To': '<sip:+8810@evil.example>' } });

  expect(answer.sent?.status).toBe(603);
});

test.each([
  [{ Event: 'talk' }, { status: 489, parts: { headers: { 'Allow-Events': 'refer' } } }],
  [{ Event: 'Refer;id=93809824' }, { status: 200, parts: {} }],
  [{}, { status: 200, parts: {} }],
])('SrfLeg takes NOTIFY of REFER alone: %j', (headers, expected) => {
  const { dialog } = openLeg();

  const answer = dialog.receive('notify', { headers });

  expect(answer.sent).toEqual(expected);
});

test('SrfLeg transfers by REFER, waits for the outcome, and says BYE', async () => {
  const { dialog, leg, causes } = openLeg();

  const over = leg.transfer('+390687654321');
  await settle();
  dialog.receive('notify', { headers: SIPFRAG, body: 'SIP/2.0 180 Ringing' });
  dialog.receive('notify', { headers: SIPFRAG, body: 'SIP/2.0 200 OK' });
  await over;

  expect(dialog.sent).toMatchObject([
    { method: 'REFER', headers: { 'Refer-To': '<sip:+390687654321@carrier.example>' } },
    { method: 'BYE' },
  ]);
  expect(causes).toEqual([{ kind: 'transferred' }]);
});

test('SrfLeg takes a BYE after an accepted REFER for its success', async () => {
  const { dialog, leg, causes } = openLeg();

  const over = leg.transfer('+390687654321');
  await settle();
  dialog.receive('destroy');
  await over;

  expect(causes).toEqual([{ kind: 'transferred' }]);
});

test.each([
  ['the far end refuses', 603, [], 603],
  ['the other party is busy', 202, ['SIP/2.0 486 Busy Here'], 486],
])('SrfLeg goes on when it cannot transfer because %s', async (_, status, notes, expected) => {
  const dialog = new ScriptedDialog(async () => response(status));
  const { leg, causes } = openLeg({ dialog });

  const outcome = leg.transfer('+390687654321').catch((error: unknown) => error);
  await settle();
  for (const body of notes) dialog.receive('notify', { headers: SIPFRAG, body });

  expect(await outcome).toMatchObject({ name: 'CarrierError', sipStatus: expected });
  expect(causes).toEqual([]);
});

test('SrfLeg gives up a transfer without an outcome', async () => {
  const { clock, leg, causes } = openLeg();

  const outcome = leg.transfer('+390687654321').catch((error: unknown) => error);
  await settle();
  clock.advance(180_000);

  expect(await outcome).toMatchObject({ sipStatus: 408 });
  expect(causes).toEqual([]);
});

test('SrfLeg transfers to nothing but a number', async () => {
  const { dialog, leg } = openLeg();

  await expect(leg.transfer('1@evil.example>\r\nX: y')).rejects.toMatchObject({ sipStatus: 484 });

  expect(dialog.sent).toEqual([]);
});
