/** Reliable ringing and UPDATE as they come over the embedded plane; drachtio-server is not asked for either. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import { PhoneLine } from '../../examples/phone/phone-line.ts';
import { parseSdp } from '../../src/rtp/sdp.ts';
import { agree, answer, offer } from '../../src/rtp/sdp-answer.ts';
import { startEmbeddedPlane } from './embedded-plane.ts';
import { OURS, type Plane, packetOf, say, THEIRS, trunkTo } from './plane.ts';

const ADDRESS = '127.0.0.1';

let plane: Plane;
const phone = new Phone({ number: THEIRS });

beforeAll(async () => {
  await phone.start();
  plane = await startEmbeddedPlane([trunkTo(phone.hostPort())]);
});
afterAll(async () => {
  await phone.stop();
  await plane.stop();
});

/** A call that rings with early media, which it has agreed on by PRACK. */
async function ringReliably() {
  const ringing = new Promise<RingingCall>((resolve) => phone.onRinging(resolve));
  const outgoing = plane.carrier.place({ from: OURS, to: THEIRS, ringingTimeoutMs: 10_000 });
  const { invite } = await ringing;
  const theirs = parseSdp(invite.request.body.toString());
  const line = await openLine();
  const body = answer(theirs, mediaOf(line));
  await invite.progress(183, { body, reliable: true }).acknowledged;
  line.connect(agree(theirs));
  return { outgoing, invite, line, theirs };
}

async function openLine(): Promise<PhoneLine> {
  const line = new PhoneLine();
  await line.open(ADDRESS);
  return line;
}

function mediaOf({ port }: PhoneLine, version = 1) {
  return { address: ADDRESS, port, sessionId: 1, version };
}

test('OutgoingCall takes the answer from a reliable 183 alone', async () => {
  const { outgoing, invite, line } = await ringReliably();

  invite.accept();
  const leg = await outgoing.answered;
  const heard = packetOf(line, ({ isVoiced }) => isVoiced);
  say(leg.audio);

  expect((await heard).isVoiced).toBe(true);
  await leg.hangUp();
  line.close();
});

test('OutgoingCall follows an UPDATE before the answer to another place and codec', async () => {
  const { outgoing, invite, line, theirs } = await ringReliably();
  const moved = await openLine();
  const body = offer(mediaOf(moved, 2)).replace('RTP/AVP 0 8 101', 'RTP/AVP 8');

  const updated = await invite.dialog.request('UPDATE', { body });
  const ours = parseSdp(updated.body.toString());
  moved.connect(agree(ours));
  invite.accept();
  const leg = await outgoing.answered;
  const packet = packetOf(moved);
  say(leg.audio);

  expect(updated.status).toBe(200);
  expect(ours.mediaLines.map(({ formats }) => formats)).toEqual(['8']);
  expect(Number(ours.version)).toBe(Number(theirs.version) + 1);
  expect(ours.sessionId).toBe(theirs.sessionId);
  await packet;
  await leg.hangUp();
  line.close();
  moved.close();
});
