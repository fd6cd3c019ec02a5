/** When an INVITE inside a dialog is tried again, and when not. RFC 3261, 14.1. */
import { afterEach, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request, SDP } from './messages.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import { next } from './user-agents.ts';

const LISTEN = [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] as const;

let stop: () => Promise<void> = async () => undefined;
afterEach(() => stop());

async function open() {
  const clock = new FakeClock();
  const userAgent = new UserAgent({ listen: LISTEN, clock });
  const peer = await new ScriptedPeer().start();
  await userAgent.start();
  stop = async () => {
    peer.stop();
    await userAgent.stop();
  };
  return { clock, userAgent, peer };
}

/** A call of ours to the peer. */
async function calling() {
  const world = await open();
  const invite = world.userAgent.invite({ uri: world.peer.uri, body: SDP });
  world.peer.reply(await world.peer.expect('INVITE'), 200);
  const { dialog } = await invite.outcome;
  if (dialog === null) throw new Error('The call was not answered');
  return { ...world, dialog, before: 1 };
}

/** A call of the peer to us. */
async function called() {
  const world = await open();
  const { peer, userAgent } = world;
  const invited = next<[ServerInvite]>(userAgent, 'invite');
  const via = `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bK1;rport`;
  peer.send(
    request('INVITE', { Via: via, Contact: `<${peer.uri}>` }),
    userAgent.addresses[0]?.port,
  );
  const [invite] = await invited;
  const { dialog, acknowledged } = invite.accept({ body: SDP });
  const ok = await peer.expect('200');
  const ack = request('ACK', { Via: `${via}a`, To: ok.get('to') ?? '', CSeq: '1 ACK' });
  peer.send(ack, userAgent.addresses[0]?.port);
  await acknowledged;
  return { ...world, dialog, before: 0 };
}

type World = { clock: FakeClock; peer: ScriptedPeer; dialog: Dialog; before: number };

const settled = () => new Promise((resolve) => setTimeout(resolve, 30));
const invites = (peer: ScriptedPeer) => peer.kinds.filter((kind) => kind === 'INVITE').length;

/** The peer refuses our INVITE; how many come until just before and just after these waits. */
async function refuse(
  { clock, peer, dialog, before }: World,
  status: number,
  headers: Readonly<Record<string, string>>,
  waitsMs: readonly [number, number],
) {
  const response: Promise<SipMessage> = dialog.reinvite({ body: SDP });
  peer.reply(await peer.expect('INVITE', before + 1), status, undefined, headers);
  await settled();
  const counts: number[] = [];
  let passedMs = 0;
  for (const waitMs of waitsMs) {
    clock.advance(waitMs - passedMs);
    passedMs = waitMs;
    await settled();
    counts.push(invites(peer) - before);
  }
  return { counts, response };
}

test('after 491 the side that made the call tries again after 2.1 to 4 s', async () => {
  const world = await calling();

  const { counts, response } = await refuse(world, 491, {}, [2099, 4000]);
  world.peer.reply(await world.peer.expect('INVITE', 3), 200);

  expect(counts).toEqual([1, 2]);
  expect((await response).status).toBe(200);
});

test('after 491 the side that was called tries again within 2 s', async () => {
  const world = await called();

  const { counts, response } = await refuse(world, 491, {}, [0, 2000]);
  world.peer.reply(await world.peer.expect('INVITE', 2), 200);

  expect(counts.at(-1)).toBe(2);
  expect((await response).status).toBe(200);
});

test('after 500 with Retry-After it is tried again when that is over', async () => {
  const world = await calling();

  const { counts, response } = await refuse(world, 500, { 'Retry-After': '3' }, [2999, 3000]);
  world.peer.reply(await world.peer.expect('INVITE', 3), 200);

  expect(counts).toEqual([1, 2]);
  expect((await response).status).toBe(200);
});

test.each([
  ['500 without Retry-After', 500, {}],
  ['500 with a wait that is too long', 500, { 'Retry-After': '3600' }],
  ['480 with Retry-After', 480, { 'Retry-After': '1' }],
] as const)('after %s it is not tried again', async (_, status, headers) => {
  const world = await calling();

  const { counts, response } = await refuse(world, status, headers, [5000, 20_000]);

  expect(counts).toEqual([1, 1]);
  expect((await response).status).toBe(status);
});

test.each([
  ['200 to an UPDATE with an offer', 200, { body: SDP }, true],
  ['refusal of it', 488, { body: SDP }, false],
  ['200 to an UPDATE without one', 200, {}, true],
] as const)('the Contact of a %s is where the dialog leads, or is not', async (_, status, parts, moves) => {
  const { peer, dialog } = await calling();
  const response = dialog.request('UPDATE', parts);

  peer.reply(await peer.expect('UPDATE'), status, undefined, {
    contact: '<sip:moved@127.0.0.1:9>',
  });
  await response;

  expect(dialog.data.remoteTarget === 'sip:moved@127.0.0.1:9').toBe(moves);
});
