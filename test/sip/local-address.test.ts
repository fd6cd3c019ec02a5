/** Which address of ours Via and Contact carry: chosen for each far end, and never a wildcard. */
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import type { AddressFor, ListenProtocol } from '../../src/sip/transport/flow.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts';
import { request, SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import { SHORT_TIMERS } from './user-agents.ts';

/** Stands for a far end behind a NAT; the other loopback addresses are in our own network. */
const OUTSIDE = '127.0.0.2';

/** As the composition root decides, with a NAT whose address is 203.0.113.10. */
const addressFor: AddressFor = (_, farEnd) => (farEnd === OUTSIDE ? '203.0.113.10' : '10.0.0.5');

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(options: Partial<UserAgentOptions> = {}, address = '0.0.0.0') {
  const protocols: readonly ListenProtocol[] = ['UDP', 'TCP'];
  const userAgent = new UserAgent({
    listen: protocols.map((protocol) => ({ protocol, address, port: 0 })),
    timers: SHORT_TIMERS,
    ...options,
  });
  await userAgent.start();
  closers.push(() => userAgent.stop());
  return userAgent;
}

async function startPeer(address: string) {
  const peer = await new ScriptedPeer(address).start();
  closers.push(() => peer.stop());
  return peer;
}

const portOf = (userAgent: UserAgent, protocol = 'UDP') =>
  userAgent.addresses.find((each) => each.protocol === protocol)?.port ?? 0;

test.each([
  ['outside', OUTSIDE, '203.0.113.10'],
  ['in our network', '127.0.0.1', '10.0.0.5'],
])('UserAgent answers a far end %s with a Contact that reaches us from there', async (_, farEnd, advertised) => {
  const userAgent = await start({ addressFor });
  userAgent.on('invite', (invite) => invite.accept({ body: SDP, contentType: 'application/sdp' }));
  const peer = await startPeer(farEnd);

  peer.send(request('INVITE', { Contact: `<${peer.uri}>` }), portOf(userAgent));
  const accepted = await peer.expect('200');

  expect(accepted.contact?.uri).toBe(`sip:agent@${advertised}:${portOf(userAgent)}`);
});

test.each([
  ['outside', OUTSIDE, '203.0.113.10'],
  ['in our network', '127.0.0.1', '10.0.0.5'],
])('UserAgent asks a far end %s with a Via and a Contact that reach us from there', async (_, farEnd, advertised) => {
  const userAgent = await start({ addressFor });
  const peer = await startPeer(farEnd);

  const registered = userAgent.request({ method: 'REGISTER', uri: peer.uri, from: '<sip:a@b>' });
  const asked = await peer.expect('REGISTER');
  peer.reply(asked, 200);

  expect((await registered).status).toBe(200);
  expect([asked.via.host, asked.via.port]).toEqual([advertised, portOf(userAgent)]);
  expect(asked.contact?.uri).toBe(`sip:a@${advertised}:${portOf(userAgent)}`);
});

test('UserAgent tells the same in a dialog: re-INVITE, and BYE', async () => {
  const userAgent = await start({ addressFor });
  const peer = await startPeer(OUTSIDE);
  const call = userAgent.invite({ uri: peer.uri, from: '<sip:a@b>', body: SDP });
  const accepted = once(call, 'accepted');
  peer.reply(await peer.expect('INVITE'), 200);
  const [, dialog] = await accepted;

  const again = dialog.request('INVITE', { body: SDP });
  const reinvite = await peer.expect('INVITE', 2);
  peer.reply(reinvite, 200);
  await again;
  const ended = dialog.bye();
  const bye = await peer.expect('BYE');
  peer.reply(bye, 200);
  await ended;

  expect(reinvite.contact?.uri).toBe(`sip:a@203.0.113.10:${portOf(userAgent)}`);
  expect([reinvite.via.host, bye.via.host]).toEqual(['203.0.113.10', '203.0.113.10']);
});

test('UserAgent answers over TCP with the port that takes connections', async () => {
  const userAgent = await start({ addressFor });
  const other = await start({}, OUTSIDE);
  userAgent.on('invite', (invite) => invite.accept({ body: SDP, contentType: 'application/sdp' }));
  const port = portOf(userAgent, 'TCP');

  const call = other.invite({ uri: `sip:b@127.0.0.1:${port};transport=tcp`, from: '<sip:a@b>' });
  const [response] = await once(call, 'accepted');

  // A connection that the other opened comes from whatever address the system gave it.
  expect(response.contact.uri).toBe(`sip:b@10.0.0.5:${port};transport=tcp`);
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
])('UserAgent that listens on %s tells the address that packets leave from', async (wildcard, advertised) => {
  const userAgent = await start({}, wildcard);
  const peer = await start({}, advertised.replace(/[[\]]/g, ''));
  const from = '<sip:a@b>';
  const asked = new Promise<string>((resolve) => {
    peer.on('invite', (invite) => {
      resolve(`${invite.request.via.host} ${invite.request.contact?.uri}`);
      invite.reject(486);
    });
  });

  const call = userAgent.invite({ uri: `sip:b@${advertised}:${portOf(peer)}`, from, body: SDP });
  await once(call, 'rejected');

  expect(await asked).toBe(`${advertised} sip:a@${advertised}:${portOf(userAgent)}`);
  expect(userAgent.ownEndpoint?.address).not.toBe(wildcard);
});
