/** Calls of ours to peers that fork, repeat themselves, route, or stay away. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ClientInvite } from '../../src/sip/client-invite.ts';
import { DigestClient } from '../../src/sip/digest.ts';
import type { OutgoingInvite } from '../../src/sip/own-messages.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import { ALL_OVER_MS, eventually, next, SHORT_TIMERS } from './user-agents.ts';

let userAgent: UserAgent;
let peer: ScriptedPeer;

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

function call(options: Partial<OutgoingInvite> = {}): ClientInvite {
  return userAgent.invite({ uri: peer.uri, body: SDP, ...options });
}

test('ClientInvite acknowledges every repeat of a 2xx with the same ACK', async () => {
  const invite = call();
  const request = await peer.expect('INVITE');

  peer.reply(request, 200);
  await invite.outcome;
  peer.reply(request, 200);
  const [first, second] = [await peer.expect('ACK'), await peer.expect('ACK', 2)];

  expect(second.toBuffer()).toEqual(first.toBuffer());
  expect(userAgent.sizes.dialogs).toBe(1);
});

test('ClientInvite is answered by a fork that was one too many to be heard ringing', async () => {
  const invite = call();
  const rung: string[] = [];
  invite.on('provisional', (_, dialog) => rung.push(dialog?.data.remoteTag ?? ''));
  const request = await peer.expect('INVITE');

  for (let fork = 1; fork <= 17; fork += 1) peer.reply(request, 180, `fork-${fork}`);
  peer.reply(request, 200, 'fork-17');
  const { response, dialog } = await invite.outcome;
  const ack = await peer.expect('ACK');

  expect([rung.length, rung.at(-2), rung.at(-1)]).toEqual([17, 'fork-16', '']);
  expect([response.status, dialog?.data.remoteTag, ack.toTag]).toEqual([200, 'fork-17', 'fork-17']);
  expect(userAgent.sizes.dialogs).toBe(1);
});

test('ClientInvite keeps the first fork that answers and hangs up on the others', async () => {
  const invite = call();
  const rung: (string | undefined)[] = [];
  invite.on('provisional', (_, dialog) => rung.push(dialog?.data.remoteTag));
  const request = await peer.expect('INVITE');

  peer.reply(request, 180, 'one');
  peer.reply(request, 180, 'two');
  peer.reply(request, 200, 'two');
  peer.reply(request, 200, 'three');
  const { dialog } = await invite.outcome;
  const bye = await peer.expect('BYE');
  peer.reply(bye, 200);

  expect(rung).toEqual(['one', 'two']);
  expect(dialog?.data.remoteTag).toBe('two');
  expect(bye.toTag).toBe('three');
  expect(peer.received.filter(({ method }) => method === 'ACK').map(({ toTag }) => toTag)).toEqual([
    'two',
    'three',
  ]);
  await eventually(() => userAgent.sizes.dialogs === 1, 'one dialog is left');
});

test('ClientInvite hangs up on an answer that comes when it has given up', async () => {
  const invite = call({ ringTimeoutMs: 20 });
  const request = await peer.expect('INVITE');
  peer.reply(request, 180);
  const cancel = await peer.expect('CANCEL');
  peer.reply(cancel, 200);

  const { response } = await invite.outcome;
  peer.reply(request, 200);

  expect(response.status).toBe(487);
  expect((await peer.expect('ACK')).toTag).toBe('peer');
  expect((await peer.expect('BYE')).toTag).toBe('peer');
});

test('ClientInvite reports 408 without an answer', async () => {
  const { response, dialog } = await call().outcome;

  expect(response.status).toBe(408);
  expect(dialog).toBeNull();
  expect(peer.kinds.length).toBeGreaterThan(4);
});

test('ClientInvite hangs up when the application never sends its ACK', async () => {
  const invite = call({ acknowledge: 'manual' });
  peer.reply(await peer.expect('INVITE'), 200);
  const { dialog } = await invite.outcome;
  const ended = dialog && next(dialog, 'ended');

  expect(peer.kinds).not.toContain('ACK');
  await peer.expect('ACK');
  peer.reply(await peer.expect('BYE'), 200);

  expect(await ended).toMatchObject([{ cause: 'local-bye' }]);
});

test('ClientInvite sends its ACK and BYE by the route of the answer', async () => {
  const proxy = await new ScriptedPeer().start();
  try {
    const invite = call();
    const route = `<sip:127.0.0.1:${proxy.port};lr>`;
    peer.reply(await peer.expect('INVITE'), 200, 'peer', { 'record-route': route });
    const { dialog } = await invite.outcome;
    void dialog?.bye();

    const [ack, bye] = [await proxy.expect('ACK'), await proxy.expect('BYE')];

    expect([ack.get('route'), bye.get('route')]).toEqual([route, route]);
    expect(bye.uri).toBe(peer.uri);
    proxy.reply(bye, 200);
  } finally {
    proxy.stop();
  }
});

test('ClientInvite goes by the outbound proxy that it is given', async () => {
  const invite = call({
    uri: 'sip:callee@nowhere.invalid',
    route: [`<sip:127.0.0.1:${peer.port};lr>`],
    from: '"Zoë" <sip:us@example.com>',
    contactUser: 'trunk',
  });

  const request = await peer.expect('INVITE');
  peer.reply(request, 503);
  await invite.outcome;

  expect(request.uri).toBe('sip:callee@nowhere.invalid');
  expect(request.from.displayName).toBe('Zoë');
  expect(request.contact?.uri).toMatch(/^sip:trunk@127\.0\.0\.1:\d+$/);
});

test('ClientInvite reports 503 for a name that leads nowhere', async () => {
  const { response } = await call({ uri: 'sip:callee@nowhere.invalid' }).outcome;

  expect(response.status).toBe(503);
});

test('ClientInvite does not let a stranger answer for the peer', async () => {
  const invite = call();
  const request = await peer.expect('INVITE');
  const forged = request.clone().set('via', 'SIP/2.0/UDP 127.0.0.1;branch=z9hG4bKguess');

  peer.reply(forged, 200, 'stranger');
  peer.reply(request, 486);

  expect((await invite.outcome).response.status).toBe(486);
  expect(userAgent.counts.dropped['stray-response']).toBe(1);
});

test('Dialog ends when the peer does not know it', async () => {
  const invite = call();
  peer.reply(await peer.expect('INVITE'), 200);
  const { dialog } = await invite.outcome;
  const ended = dialog && next(dialog, 'ended');

  const info = dialog?.request('INFO');
  peer.reply(await peer.expect('INFO'), 481);

  expect((await info)?.status).toBe(481);
  expect(await ended).toMatchObject([{ cause: 'peer-gone' }]);
  await expect(dialog?.request('INFO')).rejects.toThrow('it is ended');
});

/** INVITEs that have come in; repeats included. */
const invites = () => peer.kinds.filter((kind) => kind === 'INVITE').length;

test('ClientInvite that is cancelled in silence is not repeated, and a late 180 gets CANCEL', async () => {
  const invite = call();
  const request = await peer.expect('INVITE');

  invite.cancel();
  const sentAtCancel = invites();
  await pause(10 * SHORT_TIMERS.t1Ms);
  peer.reply(request, 180);
  await peer.expect('CANCEL');

  expect(invites()).toBe(sentAtCancel);
});

test('ClientInvite that is cancelled in silence ends a late answer by ACK and BYE', async () => {
  const invite = call();
  const request = await peer.expect('INVITE');

  invite.cancel();
  peer.reply(request, 200);
  await peer.expect('ACK');
  peer.reply(await peer.expect('BYE'), 200);

  expect((await invite.outcome).response.status).toBe(487);
});

test('ClientInvite that is cancelled answers no challenge', async () => {
  const digest = new DigestClient({
    credentialsFor: () => ({ username: 'trunk', password: 'secret' }),
  });
  const invite = call({ digest });
  const request = await peer.expect('INVITE');

  invite.cancel();
  const sentAtCancel = invites();
  peer.reply(request, 401, 'peer', { 'WWW-Authenticate': 'Digest realm="r", nonce="n"' });
  const { response } = await invite.outcome;
  await pause(5 * SHORT_TIMERS.t1Ms);

  expect([response.status, invites()]).toEqual([401, sentAtCancel]);
});

test('ClientInvite that is cancelled tries no other transport after the silence of the first', async () => {
  await userAgent.stop();
  const address = '127.0.0.1';
  userAgent = new UserAgent({
    listen: [
      { protocol: 'UDP', address, port: 0 },
      { protocol: 'TCP', address, port: 0 },
    ],
    timers: SHORT_TIMERS,
  });
  await userAgent.start();
  const silent = createServer((socket) => socket.resume()).listen(peer.port, address);
  await once(silent, 'listening');

  const invite = call({ body: `${SDP}a=x:${'x'.repeat(1200)}\r\n` });
  await next(invite, 'sent');
  invite.cancel();
  const { response } = await invite.outcome;
  await pause(ALL_OVER_MS / 4);
  silent.close();

  expect([response.status, peer.kinds]).toEqual([408, []]);
});
