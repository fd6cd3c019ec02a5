/** What a line knows of its packets at the end: its own figures, and those of the far end's reports. */
import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseRtcp, writeRtcp } from '../../src/rtp/rtcp.ts';
import { FAR_END, TestLine, VOICE } from './test-line.ts';

/** The far end reports on a stream. */
function report(line: TestLine, ssrc: number, fields: object = {}): void {
  const reception = {
    ...{ ssrc, fractionLost: 0, packetsLost: 2, highestSequence: 0, jitterSamples: 24 },
    ...{ lastSenderReport: 0, delaySinceLastSenderReport: 0, ...fields },
  };
  line.line.onRtcp(writeRtcp({ ssrc: 99, cname: 'far', reception }), FAR_END, line.nowMs);
}

test('RtpSession knows no details before it was agreed on', () => {
  expect(new TestLine().line.stats().details).toBeUndefined();
});

test('RtpSession knows its codec, and what came too late', () => {
  const line = new TestLine();
  line.setRemote({ codec: 'PCMA', payloadType: 8 });
  const payload = encodeG711('PCMA', VOICE);

  for (const sequence of [1, 2, 4, 5, 6, 3, 7]) {
    line.speak(VOICE, { payloadType: 8, payload, sequence, timestamp: sequence * 160 });
  }

  const stats = line.line.stats();
  expect(stats).toMatchObject({ packetsReceived: 7, packetsLost: 0 });
  expect(stats.details).toEqual({
    ...{ codec: 'PCMA', packetsLate: 1, packetsUnsent: 0, remote: undefined },
  });
});

test('RtpSession calls nothing late or lost where each packet comes twice, and keeps count of what is lost', () => {
  const line = new TestLine();
  line.setRemote();

  for (const sequence of [1, 1, 2, 2, 4, 4, 5, 5, 6, 6]) {
    line.speak(VOICE, { sequence, timestamp: sequence * 160 });
  }

  const stats = line.line.stats();
  expect(stats).toMatchObject({ packetsReceived: 10, packetsLost: 1 });
  expect(stats.details?.packetsLate).toBe(0);
});

test('RtpSession counts packets that were due and not sent, and reports only the others', () => {
  const line = new TestLine();
  line.setRemote();
  line.speakFor(1000);

  line.isRefusing = true;
  line.speakFor(8000);
  line.isRefusing = false;
  line.speakFor(8000);

  const { packetsSent, details } = line.line.stats();
  expect(details?.packetsUnsent).toBe(400);
  expect(packetsSent).toBe(line.sent.length);
  const reported = parseRtcp(line.sentRtcp.at(-1)?.datagram ?? new Uint8Array());
  expect(reported.senderReport).toBeDefined();
});

test('RtpSession keeps what the far end says of its stream, and nothing of other streams', () => {
  const line = new TestLine();
  line.setRemote();
  line.speakFor(200);
  const ssrc = line.sent[0]?.ssrc ?? 0;
  const packetsSent = line.line.stats().packetsSent;

  report(line, ssrc);
  report(line, ssrc + 1, { packetsLost: 9 });

  expect(line.line.stats().details?.remote).toEqual({
    ...{ packetsSent, packetsLost: 2, jitterMs: 3 },
    ...{ roundTripMs: undefined, roundTripMsMax: undefined },
  });
});

test('RtpSession measures the round trip by the answer to its own report', () => {
  const line = new TestLine();
  line.setRemote();
  line.speakFor(8000);
  const [own] = line.sentRtcp;
  const { senderReport } = parseRtcp(own?.datagram ?? new Uint8Array());
  const answered = { lastSenderReport: senderReport?.ntpMiddle ?? 0 };

  line.clock.advance(200);
  const sentAtMs = line.nowMs;
  report(line, senderReport?.ssrc ?? 0, answered);
  const first = line.line.stats().details?.remote?.roundTripMs ?? 0;
  line.clock.advance(300);
  report(line, senderReport?.ssrc ?? 0, answered);

  expect(senderReport).toBeDefined();
  expect(first).toBeLessThan(sentAtMs - 1_000_000);
  expect((line.line.stats().details?.remote?.roundTripMsMax ?? 0) - first).toBeCloseTo(300, 0);
});
