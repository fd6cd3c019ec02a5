/** Called parties that leave out Contact in their answer, which RFC 3261 demands. */
import { afterEach, expect, test } from 'vitest';
import { makeResponse } from '../../src/sip/message/message.ts';
import { SDP } from '../sip/messages.ts';
import { ScriptedPeer } from '../sip/scripted-peer.ts';
import { startSilentPlane } from './embedded-plane.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';

const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

test('OutgoingCall is answered by a 200 without Contact, and hung up on at the address that was called', async () => {
  const peer = await new ScriptedPeer().start();
  const trunk = trunkTo(`127.0.0.1:${peer.port}`, { optionsIntervalSeconds: 0 });
  const plane = await startSilentPlane([trunk]);
  stops.push(
    () => peer.stop(),
    () => plane.stop(),
  );
  const call = plane.carrier.place({ from: OURS, to: THEIRS, ringingTimeoutMs: 10_000 });
  const invite = await peer.expect('INVITE');
  const answer = makeResponse(invite, 200, undefined, 'peer').add(
    'content-type',
    'application/sdp',
  );
  answer.body = Buffer.from(SDP);

  peer.send(answer);
  const leg = await call.answered;
  void leg.hangUp();

  expect((await peer.expect('ACK')).uri).toBe(invite.uri);
  const bye = await peer.expect('BYE');
  expect(bye.uri).toBe(invite.uri);
  peer.reply(bye, 200);
});
