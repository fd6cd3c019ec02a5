/** Where requests inside a dialog go: through strict routers, and to peers whose Contact leads nowhere. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { request, SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import { next, SHORT_TIMERS } from './user-agents.ts';

let userAgent: UserAgent;
let peer: ScriptedPeer;

beforeEach(async () => {
  peer = await new ScriptedPeer().start();
  userAgent = new UserAgent({
    listen: [
      { protocol: 'UDP', address: '127.0.0.1', port: 0 },
      { protocol: 'TCP', address: '127.0.0.1', port: 0 },
    ],
    timers: SHORT_TIMERS,
  });
  await userAgent.start();
});

afterEach(async () => {
  await userAgent.stop();
  peer.stop();
});

/** Calls the peer, which answers with these headers. */
async function answeredWith(headers: Readonly<Record<string, string>>): Promise<Dialog | null> {
  const invite = userAgent.invite({ uri: peer.uri, body: SDP });
  peer.reply(await peer.expect('INVITE'), 200, 'peer', headers);
  return (await invite.outcome).dialog;
}

test('Dialog sends ACK and BYE to a strict router, and names the peer in Route', async () => {
  const router = `sip:127.0.0.1:${peer.port}`;
  const target = '<sip:peer@127.0.0.1:9>';

  const dialog = await answeredWith({ 'record-route': `<${router}>`, contact: target });
  void dialog?.bye();

  for (const { uri, ...message } of [await peer.expect('ACK'), await peer.expect('BYE')]) {
    expect([uri, message.headers.find(([name]) => name === 'route')?.[1]]).toEqual([
      router,
      target,
    ]);
  }
});

test.each([
  'sip:peer@telephone.invalid',
  'sip:peer@127.0.0.1:9;transport=tcp',
  'sip:peer@[::1]:5060',
  'sip:peer@10.99.99.99:5060',
])('Dialog sends ACK and BYE to where the answer came from when its Contact is %s', async (uri) => {
  const dialog = await answeredWith({ contact: `<${uri}>` });
  void dialog?.bye();

  expect((await peer.expect('ACK')).uri).toBe(uri);
  expect((await peer.expect('BYE')).uri).toBe(uri);
});

test('Dialog sends no request in plain text to a peer with a sips Contact', async () => {
  const dialog = await answeredWith({ contact: '<sips:peer@telephone.invalid>' });

  await dialog?.bye();

  // A busy machine may have sent the INVITE twice.
  expect([...new Set(peer.kinds)]).toEqual(['INVITE']);
});

test.each([
  ['a name that the caller alone knows', 'sip:caller@telephone.invalid'],
  ['a private address behind a NAT', 'sip:caller@10.99.99.99:5060'],
])('Dialog hangs up on a caller whose Contact has %s', async (_, contact) => {
  const invited = next<[ServerInvite]>(userAgent, 'invite');
  const message = request('INVITE', {
    Via: `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bKway;rport`,
    Contact: `<${contact}>`,
  });
  peer.send(message, userAgent.addresses[0]?.port);
  const [invite] = await invited;
  const { dialog } = await invite.accept({ body: SDP });
  const ack = request('ACK', {
    Via: `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bKack;rport`,
    To: `<sip:agent@192.0.2.2>;tag=${dialog.data.localTag}`,
    CSeq: '1 ACK',
  });
  peer.send(ack, userAgent.addresses[0]?.port);

  void dialog.bye();

  expect((await peer.expect('BYE')).uri).toBe(contact);
});
