/** The early dialogs of a call of ours: what makes one, what confirms it, and how they end. RFC 3262, 4. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ClientInvite } from '../../src/sip/client-invite.ts';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';

let clock: FakeClock;
let userAgent: UserAgent;
let peer: ScriptedPeer;

beforeEach(async () => {
  clock = new FakeClock();
  peer = await new ScriptedPeer().start();
  userAgent = new UserAgent({
    listen: [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }],
    clock,
  });
  await userAgent.start();
});

afterEach(async () => {
  await userAgent.stop();
  peer.stop();
});

const settled = () => new Promise((resolve) => setTimeout(resolve, 30));

/** A call, and what is heard of it while it rings. */
async function ring(): Promise<{
  readonly invite: ClientInvite;
  readonly request: SipMessage;
  readonly heard: { readonly status: number; readonly dialog: Dialog | null }[];
}> {
  const invite = userAgent.invite({ uri: peer.uri, body: SDP });
  const heard: { status: number; dialog: Dialog | null }[] = [];
  invite.on('provisional', ({ status }, dialog) => heard.push({ status, dialog }));
  return { invite, request: await peer.expect('INVITE'), heard };
}

const reliable = (rseq: string) => ({ Require: '100rel', RSeq: rseq });

test('each reliable response is confirmed once, in its turn, and heard once', async () => {
  const { request, heard } = await ring();

  for (const rseq of ['5', '5', '7', '6', 'x']) peer.reply(request, 183, 'one', reliable(rseq));
  await peer.expect('PRACK', 2);
  await settled();

  const pracks = peer.received.filter(({ method }) => method === 'PRACK');
  expect(pracks.map((prack) => prack.get('rack'))).toEqual(['5 1 INVITE', '6 1 INVITE']);
  expect(heard.map(({ status }) => status)).toEqual([183, 183]);
});

test('a response without a tag makes no dialog', async () => {
  const { request, heard } = await ring();

  peer.reply(request, 100, '');
  peer.reply(request, 180, 'one');
  await settled();

  expect(
    heard.map(({ dialog }) => dialog?.data.remoteTag ?? null).filter((tag) => tag !== null),
  ).toEqual(['one']);
});

test('a dialog goes where the newest response of its fork says', async () => {
  const { request, heard } = await ring();
  peer.reply(request, 180, 'one');
  peer.reply(request, 180, 'one', { contact: '<sip:moved@127.0.0.1:9>' });
  await settled();

  const [first, second] = heard;

  expect(first?.dialog).toBe(second?.dialog);
  expect(second?.dialog?.data.remoteTarget).toBe('sip:moved@127.0.0.1:9');
});

test('a session in an early dialog may change once the offer is answered reliably, and not before', async () => {
  const { request, heard } = await ring();
  peer.reply(request, 180, 'one', reliable('1'));
  await settled();
  const dialog = heard[0]?.dialog;
  const early = dialog?.request('UPDATE', { body: SDP });
  await expect(early).rejects.toThrow('another is in progress');

  const response = peerAnswer(request, 'one', '2');
  peer.send(response);
  await settled();
  void dialog?.request('UPDATE', { body: SDP }).catch(() => undefined);

  expect((await peer.expect('UPDATE')).body.toString()).toBe(SDP);
});

test('the fork that answers is confirmed, and the others end unanswered', async () => {
  const { invite, request, heard } = await ring();
  peer.reply(request, 180, 'one');
  peer.reply(request, 180, 'two');
  await settled();
  const ends: string[] = [];
  for (const { dialog } of heard) {
    dialog?.on('ended', ({ cause }) => ends.push(`${dialog.data.remoteTag} ${cause}`));
  }

  peer.reply(request, 200, 'one');
  const { dialog } = await invite.outcome;
  await settled();

  expect(ends).toEqual(['two unanswered']);
  expect([dialog?.data.remoteTag, dialog?.state, userAgent.sizes.dialogs]).toEqual([
    ...['one', 'confirmed', 1],
  ]);
});

test('all early dialogs end when the call is refused', async () => {
  const { invite, request, heard } = await ring();
  peer.reply(request, 180, 'one');
  peer.reply(request, 180, 'two');
  await settled();

  peer.reply(request, 486, 'three');
  await invite.outcome;

  expect(heard.map(({ dialog }) => dialog?.state)).toEqual(['ended', 'ended']);
  expect(userAgent.sizes.dialogs).toBe(0);
});

test('an answer of another fork is acknowledged and hung up', async () => {
  const { invite, request } = await ring();
  peer.reply(request, 200, 'one');
  await invite.outcome;

  peer.reply(request, 200, 'two');
  const bye = await peer.expect('BYE');

  const acks = peer.received.filter(({ method }) => method === 'ACK').map(({ toTag }) => toTag);
  expect(acks).toEqual(['one', 'two']);
  expect(bye.toTag).toBe('two');
});

test('an answer of a fork that rang is acknowledged and hung up, each time it is repeated', async () => {
  const { invite, request } = await ring();
  peer.reply(request, 180, 'one');
  peer.reply(request, 180, 'two');
  peer.reply(request, 200, 'one');
  await invite.outcome;

  peer.reply(request, 200, 'two');
  const bye = await peer.expect('BYE');
  peer.reply(request, 200, 'two');
  await peer.expect('ACK', 3);

  const acks = peer.received.filter(({ method }) => method === 'ACK').map(({ toTag }) => toTag);
  expect(acks).toEqual(['one', 'two', 'two']);
  expect(bye.toTag).toBe('two');
});

test('a repeat of the answer is acknowledged again, and counted', async () => {
  const { invite, request } = await ring();
  peer.reply(request, 200, 'one');
  await invite.outcome;
  await peer.expect('ACK');
  const before = { ...userAgent.counts };

  peer.reply(request, 200, 'one');
  await peer.expect('ACK', 2);

  expect(userAgent.counts.retransmissionsIn - before.retransmissionsIn).toBe(1);
  expect(userAgent.counts.retransmissionsOut - before.retransmissionsOut).toBe(1);
});

/** A reliable 183 with an answer to our offer. */
function peerAnswer(request: SipMessage, tag: string, rseq: string): SipMessage {
  const sent: SipMessage[] = [];
  const send = peer.send.bind(peer);
  peer.send = (message) => void sent.push(message);
  peer.reply(request, 183, tag, reliable(rseq));
  peer.send = send;
  const [response] = sent;
  if (response === undefined) throw new Error('Expected a response');
  response.set('content-type', 'application/sdp');
  response.body = Buffer.from(SDP);
  return response;
}
