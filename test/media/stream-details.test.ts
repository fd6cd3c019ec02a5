/** What a session knows of its packets at the end: its own figures, and those of the far end's reports. */
import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseRtcp, writeRtcp } from '../../src/rtp/rtcp.ts';
import { FAR_END, TestSession, VOICE } from './test-session.ts';

/** The far end reports on a stream. */
function report(session: TestSession, ssrc: number, fields: object = {}): void {
  const reception = {
    ...{ ssrc, fractionLost: 0, packetsLost: 2, highestSequence: 0, jitterSamples: 24 },
    ...{ lastSenderReport: 0, delaySinceLastSenderReport: 0, ...fields },
  };
  session.session.onRtcp(writeRtcp({ ssrc: 99, cname: 'far', reception }), FAR_END, session.nowMs);
}

test('RtpSession knows no details before it was agreed on', () => {
  expect(new TestSession().session.stats().details).toBeUndefined();
});

test('RtpSession knows its codec, and what came too late', () => {
  const session = new TestSession();
  session.setRemote({ codec: 'PCMA', payloadType: 8 });
  const payload = encodeG711('PCMA', VOICE);

  for (const sequence of [1, 2, 4, 5, 6, 3, 7]) {
    session.speak(VOICE, { payloadType: 8, payload, sequence, timestamp: sequence * 160 });
  }

  const stats = session.session.stats();
  expect(stats).toMatchObject({ packetsReceived: 7, packetsLost: 0 });
  expect(stats.details).toEqual({
    ...{ codec: 'PCMA', packetsLate: 1, packetsUnsent: 0, remote: undefined },
  });
});

test('RtpSession calls nothing late or lost where each packet comes twice, and keeps count of what is lost', () => {
  const session = new TestSession();
  session.setRemote();

  for (const sequence of [1, 1, 2, 2, 4, 4, 5, 5, 6, 6]) {
    session.speak(VOICE, { sequence, timestamp: sequence * 160 });
  }

  const stats = session.session.stats();
  expect(stats).toMatchObject({ packetsReceived: 10, packetsLost: 1 });
  expect(stats.details?.packetsLate).toBe(0);
});

test('RtpSession counts packets that were due and not sent, and reports only the others', () => {
  const session = new TestSession();
  session.setRemote();
  session.speakFor(1000);

  session.isRefusing = true;
  session.speakFor(8000);
  session.isRefusing = false;
  session.speakFor(8000);

  const { packetsSent, details } = session.session.stats();
  expect(details?.packetsUnsent).toBe(400);
  expect(packetsSent).toBe(session.sent.length);
  const reported = parseRtcp(session.sentRtcp.at(-1)?.datagram ?? new Uint8Array());
  expect(reported.senderReport).toBeDefined();
});

test('RtpSession keeps what the far end says of its stream, and nothing of other streams', () => {
  const session = new TestSession();
  session.setRemote();
  session.speakFor(200);
  const ssrc = session.sent[0]?.ssrc ?? 0;
  const packetsSent = session.session.stats().packetsSent;

  report(session, ssrc);
  report(session, ssrc + 1, { packetsLost: 9 });

  expect(session.session.stats().details?.remote).toEqual({
    ...{ packetsSent, packetsLost: 2, jitterMs: 3 },
    ...{ roundTripMs: undefined, roundTripMsMax: undefined },
  });
});

test('RtpSession measures the round trip by the answer to its own report', () => {
  const session = new TestSession();
  session.setRemote();
  session.speakFor(8000);
  const [own] = session.sentRtcp;
  const { senderReport } = parseRtcp(own?.datagram ?? new Uint8Array());
  const answered = { lastSenderReport: senderReport?.ntpMiddle ?? 0 };

  session.clock.advance(200);
  const sentAtMs = session.nowMs;
  report(session, senderReport?.ssrc ?? 0, answered);
  const first = session.session.stats().details?.remote?.roundTripMs ?? 0;
  session.clock.advance(300);
  report(session, senderReport?.ssrc ?? 0, answered);

  expect(senderReport).toBeDefined();
  expect(first).toBeLessThan(sentAtMs - 1_000_000);
  expect((session.session.stats().details?.remote?.roundTripMsMax ?? 0) - first).toBeCloseTo(
    300,
    0,
  );
});
