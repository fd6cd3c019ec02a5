/** Requests of a peer inside a dialog, in orders that our own user agent would not send them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { Acceptance, ServerInvite } from '../../src/sip/server-invite.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { request, SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import { eventually, next, SHORT_TIMERS } from './user-agents.ts';

let userAgent: UserAgent;
let peer: ScriptedPeer;
let branch = 0;

beforeEach(async () => {
  peer = await new ScriptedPeer().start();
  userAgent = new UserAgent({
    listen: [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }],
    timers: SHORT_TIMERS,
  });
  await userAgent.start();
});

afterEach(async () => {
  await userAgent.stop();
  peer.stop();
});

/** Sends a request of the peer; inside the dialog when there is one. */
function send(method: string, sequence: number, dialog?: Dialog): void {
  const tag = dialog === undefined ? '' : `;tag=${dialog.data.localTag}`;
  const message = request(method, {
    Via: `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bK${branch++};rport`,
    To: `<sip:agent@127.0.0.1>${tag}`,
    CSeq: `${sequence} ${method}`,
    Contact: `<${peer.uri}>`,
  });
  peer.send(message, userAgent.addresses[0]?.port);
}

/** The answer to the peer's request with that number. */
async function answerTo(sequence: number, method: string): Promise<SipMessage> {
  const isIt = ({ status, cseq }: SipMessage) =>
    status >= 200 && cseq.seq === sequence && cseq.method === method;
  await eventually(() => peer.received.some(isIt), `answer to ${sequence} ${method}`);
  return peer.received.find(isIt) ?? request(method);
}

async function acceptedCall(): Promise<Acceptance> {
  const invited = next<[ServerInvite]>(userAgent, 'invite');
  send('INVITE', 1);
  const [invite] = await invited;
  return invite.accept({ body: SDP });
}

test('An INVITE that overtakes the ACK stands for it', async () => {
  const { dialog, acknowledged } = await acceptedCall();
  dialog.on('reinvite', ({ respond }) => respond(200, { body: SDP }));

  send('INVITE', 2, dialog);

  expect((await answerTo(2, 'INVITE')).status).toBe(200);
  expect(await acknowledged).toMatchObject({ method: 'ACK' });
  send('ACK', 2, dialog);
});

test('A request that was overtaken by a newer one is refused', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);
  dialog.on('request', ({ respond }) => respond(200));

  send('INFO', 5, dialog);
  await answerTo(5, 'INFO');
  send('INFO', 4, dialog);

  expect((await answerTo(4, 'INFO')).status).toBe(500);
});

test('A second INVITE before the answer to the first is refused with Retry-After', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);
  const reinvited = next(dialog, 'reinvite');
  send('INVITE', 2, dialog);
  await reinvited;

  send('INVITE', 3, dialog);

  const refusal = await answerTo(3, 'INVITE');
  expect(refusal.status).toBe(500);
  expect(Number(refusal.get('retry-after'))).toBeLessThan(10);
});

test('A BYE refuses the INVITE that still waits for its answer', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);
  const reinvited = next(dialog, 'reinvite');
  send('INVITE', 2, dialog);
  await reinvited;

  send('BYE', 3, dialog);

  expect((await answerTo(3, 'BYE')).status).toBe(200);
  expect((await answerTo(2, 'INVITE')).status).toBe(487);
});

test('An INVITE that the application never answers is refused in the end', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);
  dialog.on('reinvite', () => undefined);

  send('INVITE', 2, dialog);

  expect((await answerTo(2, 'INVITE')).status).toBe(500);
});

test('A PRACK for nothing is refused', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);

  send('PRACK', 2, dialog);

  expect((await answerTo(2, 'PRACK')).status).toBe(481);
});

test('A fault in a listener costs its own request only', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);
  dialog.once('request', () => {
    throw new Error('listener is broken');
  });
  dialog.on('ended', () => {
    throw new Error('listener is broken');
  });

  send('INFO', 2, dialog);
  const faulty = await answerTo(2, 'INFO');
  send('BYE', 3, dialog);

  expect(faulty.status).toBe(500);
  expect((await answerTo(3, 'BYE')).status).toBe(200);
  expect(userAgent.sizes.dialogs).toBe(0);
});

test('A new request with a CSeq that was used already is refused, and not taken twice', async () => {
  const { dialog } = await acceptedCall();
  send('ACK', 1, dialog);
  const taken: string[] = [];
  dialog.on('request', ({ request: { method }, respond }) => {
    taken.push(method);
    respond(200);
  });
  send('INFO', 5, dialog);
  await answerTo(5, 'INFO');

  // Another branch: not a retransmission.
  send('INFO', 5, dialog);

  const isRefusal = ({ status, cseq }: SipMessage) => status === 500 && cseq.seq === 5;
  await eventually(() => peer.received.some(isRefusal), 'refusal of the second request');
  expect(taken).toEqual(['INFO']);
});
