/** A session with SRTP: what it sends and hears, and what it does with packets that are not authentic. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseRtp, writeRtp } from '../../src/rtp/packet.ts';
import { parseRtcp } from '../../src/rtp/rtcp.ts';
import { SrtpReceiver, SrtpSender } from '../../src/rtp/srtp/srtp-stream.ts';
import { type CryptoSuite, inlineBytesOf } from '../../src/rtp/srtp/transform.ts';
import { FAR_END, reply, TestSession, VOICE } from './test-session.ts';

function keysOf(suite: CryptoSuite) {
  const newKeys = () => ({ suite, inline: randomBytes(inlineBytesOf(suite)).toString('base64') });
  return { send: newKeys(), receive: newKeys() };
}

function voicePacket(sequence: number): Uint8Array {
  const payload = encodeG711('PCMU', VOICE);
  const timestamp = sequence * 160;
  return writeRtp({ payloadType: 0, hasMarker: false, sequence, timestamp, ssrc: 99, payload });
}

/** A session with keys, and the far end's two halves. */
function secured(suite: CryptoSuite = 'AES_CM_128_HMAC_SHA1_80') {
  const keys = keysOf(suite);
  const session = new TestSession();
  session.setRemote({ srtp: keys });
  return {
    ...{ session, keys },
    farSender: new SrtpSender(keys.receive),
    farReceiver: new SrtpReceiver(keys.send),
  };
}

type Secured = ReturnType<typeof secured>;

function speak({ session, farSender }: Secured, from: number, packets: number): void {
  for (let sequence = from; sequence < from + packets; sequence += 1) {
    const sealed = farSender.protectRtp(voicePacket(sequence));
    if (sealed !== undefined) session.session.onDatagram(sealed, FAR_END, session.nowMs);
    session.clock.advance(20);
  }
}

test.each([
  'AES_CM_128_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'AEAD_AES_128_GCM',
] as const)('RtpSession with %s hears what the far end sealed', (suite) => {
  const call = secured(suite);

  speak(call, 1, 10);

  expect(call.session.heardAsLetters()).toContain('vvvvvvvv');
  expect(call.session.session.stats()).toMatchObject({ packetsReceived: 10, packetsRejected: 0 });
});

test('RtpSession seals what it sends, packets and reports', () => {
  const { session, farReceiver } = secured();

  session.session.begin(1);
  session.session.say(1, reply(5), session.nowMs);
  session.clock.advance(10_000);
  const [first] = session.sealed;
  const opened = session.sealed.map((datagram) => farReceiver.unprotectRtp(datagram));
  const [report] = session.sentRtcp.map(({ datagram }) => farReceiver.unprotectRtcp(datagram));

  expect(opened.length).toBeGreaterThan(100);
  expect(opened.every((packet) => packet !== undefined)).toBe(true);
  expect(opened[0]?.subarray(12)).toEqual(Buffer.from(encodeG711('PCMU', reply(1))));
  expect(Buffer.from(first ?? []).subarray(12, 172)).not.toEqual(opened[0]?.subarray(12));
  expect(parseRtcp(report ?? Buffer.alloc(0)).senderReport?.ssrc).toBe(
    parseRtp(opened[0] ?? Buffer.alloc(0))?.ssrc,
  );
});

test('RtpSession counts and drops plain packets, forgeries and replays, and the call goes on', () => {
  const call = secured();
  const { session, farSender } = call;
  const sealed = farSender.protectRtp(voicePacket(1)) ?? Buffer.alloc(0);
  session.session.onDatagram(sealed, FAR_END, session.nowMs);
  const report = Buffer.from([0x80, 200, 0, 6, ...Buffer.alloc(40)]);

  for (let at = 0; at < 2000; at += 1) {
    session.session.onDatagram(voicePacket((2 + at) % 65_536), FAR_END, session.nowMs);
    session.session.onDatagram(sealed, FAR_END, session.nowMs);
    session.session.onDatagram(randomBytes(182), FAR_END, session.nowMs);
    session.session.onDatagram(report, FAR_END, session.nowMs);
    session.session.onRtcp(report, FAR_END, session.nowMs);
  }
  const rejected = session.session.stats().packetsRejected;
  speak(call, 2, 10);

  expect(rejected).toBe(10_000);
  expect(session.session.stats()).toMatchObject({ packetsReceived: 11, packetsRejected: 10_000 });
  expect(session.heardAsLetters()).toContain('vvvvvvvv');
  expect(session.kinds()).not.toContain('media-lost');
});

test('RtpSession keeps its counters through an agreement with the same keys, and takes a new key', () => {
  const call = secured();
  const { session, keys } = call;
  speak(call, 1, 5);

  session.setRemote({ srtp: { ...keys } });
  speak(call, 6, 5);
  const receive = keysOf('AES_CM_128_HMAC_SHA1_80').receive;
  session.setRemote({ srtp: { send: keys.send, receive } });
  speak({ ...call, farSender: new SrtpSender(receive) }, 11, 5);
  const opened = session.sealed.map((datagram) => call.farReceiver.unprotectRtp(datagram));

  expect(session.session.stats()).toMatchObject({ packetsReceived: 15, packetsRejected: 0 });
  expect(opened).not.toContain(undefined);
});

test('RtpSession refuses to be sent old packets again after an agreement with the same keys', () => {
  const call = secured();
  const { session, keys, farSender } = call;
  const sealed = farSender.protectRtp(voicePacket(1)) ?? Buffer.alloc(0);
  session.session.onDatagram(sealed, FAR_END, session.nowMs);

  session.setRemote({ srtp: { ...keys } });
  session.session.onDatagram(sealed, FAR_END, session.nowMs);

  expect(session.session.stats()).toMatchObject({ packetsReceived: 1, packetsRejected: 1 });
});

type Keys = ReturnType<typeof keysOf>;

test.each<[string, (keys: Keys) => Keys | undefined]>([
  ['plain RTP', () => undefined],
  ['another suite', () => keysOf('AES_CM_128_HMAC_SHA1_32')],
  ['another key', ({ send }) => ({ ...keysOf('AES_CM_128_HMAC_SHA1_80'), send })],
])('RtpSession keeps the state of a key through %s', (_, between) => {
  const call = secured();
  const { session, keys, farSender, farReceiver } = call;
  // Three roll-overs, of which a receiver without its state knows nothing.
  for (let number = 0; number < 200_000; number += 30_000) {
    const sealed = farSender.protectRtp(voicePacket(number % 65_536));
    if (sealed !== undefined) session.session.onDatagram(sealed, FAR_END, session.nowMs);
  }
  const old = farSender.protectRtp(voicePacket(200_000 % 65_536)) ?? Buffer.alloc(0);
  session.session.onDatagram(old, FAR_END, session.nowMs);
  const rejected = () => session.session.stats().packetsRejected;
  const received = () => session.session.stats().packetsReceived;
  session.clock.advance(10_000);
  const reports = session.sentRtcp.splice(0);

  session.setRemote({ srtp: between(keys) });
  session.clock.advance(100);
  session.setRemote({ srtp: { ...keys } });
  session.sentRtcp.length = 0;
  const [rejectedBefore, receivedBefore] = [rejected(), received()];
  session.session.onDatagram(old, FAR_END, session.nowMs);
  speak(call, 200_001 % 65_536, 5);
  session.clock.advance(10_000);

  expect([rejected() - rejectedBefore, received() - receivedBefore]).toEqual([1, 5]);
  // An index that comes again would be a key stream that comes again: the far end takes it for a replay.
  expect([reports.length, session.sentRtcp.length]).not.toContain(0);
  const opened = [...reports, ...session.sentRtcp].map(({ datagram }) =>
    farReceiver.unprotectRtcp(datagram),
  );
  expect(opened).not.toContain(undefined);
});

test('RtpSession counts the octets of a sealed packet that was not sent as it counted them before', () => {
  const { session, farReceiver } = secured('AEAD_AES_128_GCM');
  session.isRefusing = true;
  session.clock.advance(2000);
  session.isRefusing = false;

  session.clock.advance(10_000);
  const [report] = session.sentRtcp.map(({ datagram }) => farReceiver.unprotectRtcp(datagram));
  const packets = report?.readUInt32BE(20) ?? 0;

  expect(packets).toBeGreaterThan(0);
  expect(report?.readUInt32BE(24)).toBe(packets * 160);
});

test('RtpSession with SRTP forwards to a plain one, and the other way', () => {
  const call = secured();
  const plain = new TestSession();
  plain.setRemote();
  plain.session.feed.from(call.session.session.feed);
  call.session.session.feed.from(plain.session.feed);

  const sealed = call.farSender.protectRtp(voicePacket(1)) ?? Buffer.alloc(0);
  call.session.session.onDatagram(sealed, FAR_END, call.session.nowMs);
  plain.hear(VOICE);
  const voice = Buffer.from(encodeG711('PCMU', VOICE));
  const there = plain.sent.map(({ payload }) => Buffer.from(payload));
  const back = call.session.sealed.map((datagram) => call.farReceiver.unprotectRtp(datagram));

  expect(there).toEqual([voice]);
  expect(back.map((packet) => packet?.subarray(12))).toEqual([voice]);
});

test('RtpSession with SRTP hears the far end behind NAT once it is proven, and no stranger with its packets', () => {
  const call = secured();
  const { session, farSender } = call;
  const behindNat = { address: FAR_END.address, port: 33_000 };
  const stranger = { address: '198.51.100.1', port: 4000 };

  for (let sequence = 1; sequence <= 10; sequence += 1) {
    const sealed = farSender.protectRtp(voicePacket(sequence)) ?? Buffer.alloc(0);
    session.session.onDatagram(sealed, stranger, session.nowMs);
    session.session.onDatagram(sealed, behindNat, session.nowMs);
    session.clock.advance(20);
  }

  // Three packets prove the port, and the stranger's ten are never looked at.
  expect(session.session.stats()).toMatchObject({ packetsReceived: 7, packetsRejected: 13 });
});

test('RtpSession with SRTP reads reports of any port of the far end, and of no other host', () => {
  const { session, farSender } = secured();
  const report = Buffer.from([0x80, 200, 0, 6, ...Buffer.alloc(24)]);
  const sealed = () => farSender.protectRtcp(report) ?? Buffer.alloc(0);

  session.session.onRtcp(sealed(), { ...FAR_END, port: FAR_END.port + 1 }, session.nowMs);
  const rejected = session.session.stats().packetsRejected;
  session.session.onRtcp(sealed(), { address: '198.51.100.1', port: 4001 }, session.nowMs);

  expect([rejected, session.session.stats().packetsRejected]).toEqual([0, 1]);
});
