import { expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { parseTelephoneEvent } from '../../src/rtp/dtmf-receiver.ts';
import { FAR_END, reply, TestLine, VOICE } from './test-line.ts';

test('RtpSession sends nothing before it knows where to', () => {
  const line = new TestLine();

  line.line.begin(1);
  line.line.say(1, reply(10), line.nowMs);
  line.clock.advance(1000);

  expect(line.sent).toEqual([]);
});

test('RtpSession sends a silent packet every 20 ms while idle', () => {
  const line = new TestLine();
  line.setRemote();

  line.clock.advance(2000);

  expect(line.sent.length).toBeGreaterThanOrEqual(99);
  expect(
    line.sent.every(
      ({ target, payload }) =>
        target.port === FAR_END.port && payload.every((byte) => byte === 0xff),
    ),
  ).toBe(true);
  expectSeamless(line);
});

test('RtpSession starts a reply at once, marked, between two beats', () => {
  const line = new TestLine();
  line.setRemote();
  line.clock.advance(107);
  const before = line.sent.length;

  line.line.begin(1);
  line.line.say(1, reply(5), line.nowMs);

  expect(line.sent.slice(before)).toMatchObject([{ hasMarker: true, atMs: line.nowMs }]);
  expect(line.events).toEqual([{ kind: 'playout-started', generation: 1, atMs: line.nowMs }]);
});

test('RtpSession keeps 20 ms between the packets of a reply and gives back the lead in the silence after it', () => {
  const line = new TestLine();
  line.setRemote();
  line.clock.advance(107);
  const gridAtMs = line.sent.at(-1)?.atMs ?? 0;

  line.line.begin(1);
  line.line.say(1, reply(5), line.nowMs);
  const startedAtMs = line.nowMs;
  line.line.finish(1, line.nowMs);
  line.clock.advance(500);

  const after = line.sent.filter(({ atMs }) => atMs >= startedAtMs).map(({ atMs }) => atMs);
  expect(after.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((index) => startedAtMs + index * 20));
  expect(((after[5] ?? 0) - gridAtMs) % 20).toBe(0);
  expect(line.sent.filter(({ hasMarker }) => hasMarker)).toHaveLength(1);
  expectSeamless(line);
});

test('RtpSession has sent one packet for each 20 ms after a hundred replies', () => {
  const line = new TestLine();
  line.setRemote();

  for (let generation = 1; generation <= 100; generation += 1) {
    line.line.begin(generation);
    line.line.say(generation, reply(3), line.nowMs);
    line.line.finish(generation, line.nowMs);
    line.clock.advance(313);
  }

  expect(Math.abs(line.sent.length - 31_300 / 20)).toBeLessThanOrEqual(1);
  expectSeamless(line);
});

test('RtpSession plays a reply whole and in order, and says when it is over', () => {
  const line = new TestLine();
  line.setRemote();
  const pcm = reply(6);
  line.line.begin(1);

  line.line.say(1, pcm.subarray(0, 500), line.nowMs);
  line.line.say(1, pcm.subarray(500), line.nowMs);
  line.line.finish(1, line.nowMs);
  line.clock.advance(200);

  const heard = line.sent
    .filter(({ payload }) => payload[0] !== 0xff)
    .flatMap(({ payload }) => [...payload]);
  expect(heard).toEqual([...encodeG711('PCMU', pcm)]);
  expect(line.events[1]).toEqual({
    kind: 'playout-finished',
    generation: 1,
    playedMs: 120,
    isComplete: true,
  });
});

test('RtpSession sends A-law when that was agreed', () => {
  const line = new TestLine();
  line.setRemote({ codec: 'PCMA', payloadType: 8 });

  line.line.begin(1);
  line.line.say(1, VOICE, line.nowMs);

  expect(line.sent.at(-1)).toMatchObject({ payloadType: 8 });
  expect(decodeG711('PCMA', line.sent.at(-1)?.payload ?? new Uint8Array())[10]).toBeCloseTo(
    VOICE[10] ?? 0,
    -3,
  );
});

test('RtpSession lets no stale audio out when a new reply begins', () => {
  const line = new TestLine();
  line.setRemote();
  line.line.begin(1);
  line.line.say(1, reply(50), line.nowMs);
  line.clock.advance(100);

  line.line.begin(2);
  line.line.say(1, reply(50), line.nowMs);
  const before = line.sent.length;
  line.clock.advance(200);

  expect(line.sent.slice(before).every(({ payload }) => payload[0] === 0xff)).toBe(true);
  expect(line.kinds()).toEqual(['playout-started', 'playout-finished']);
});

test('RtpSession holds a reply back while the far end holds the call', () => {
  const line = new TestLine();
  line.setRemote();
  line.line.begin(1);
  line.line.say(1, reply(10), line.nowMs);
  line.line.finish(1, line.nowMs);
  line.clock.advance(50);

  line.setRemote({ maySend: false });
  const before = line.sent.length;
  line.clock.advance(10_000);
  const onHold = line.sent.length - before;
  line.setRemote();
  line.clock.advance(1000);

  expect(onHold).toBe(0);
  expect(line.events.at(-1)).toMatchObject({
    kind: 'playout-finished',
    playedMs: 200,
    isComplete: true,
  });
});

test('RtpSession sends keys in place of audio, with the time of their beginning', () => {
  const line = new TestLine();
  line.setRemote();
  line.clock.advance(100);

  line.line.sendDigits('1#');
  line.clock.advance(400);

  const keys = line.sent.filter(({ payloadType }) => payloadType === 101);
  const reports = keys.map(({ payload }) => parseTelephoneEvent(payload));
  expect(reports.map((report) => report?.event)).toEqual([
    ...new Array(7).fill(1),
    ...new Array(7).fill(11),
  ]);
  expect(new Set(keys.map(({ timestamp }) => timestamp)).size).toBe(2);
  expect(keys.filter(({ hasMarker }) => hasMarker)).toHaveLength(2);
});

test('RtpSession sends no keys to a far end that did not agree to them', () => {
  const line = new TestLine();
  const { telephoneEventPayloadType: _, ...agreed } = { ...{ telephoneEventPayloadType: 101 } };
  line.line.setRemote(
    {
      ...FAR_END,
      rtcpPort: 4001,
      isRtcpMuxed: false,
      codec: 'PCMU',
      payloadType: 0,
      maySend: true,
      mayReceive: true,
      ...agreed,
    },
    line.nowMs,
  );

  line.line.sendDigits('1');
  line.clock.advance(200);

  expect(line.sent.every(({ payloadType }) => payloadType === 0)).toBe(true);
});

test('RtpSession reports by RTCP about every 5 s, to the port above, and says goodbye', async () => {
  const line = new TestLine();
  line.setRemote();

  line.clock.advance(60_000);
  const reports = line.sentRtcp.length;
  await line.line.close(line.nowMs);

  expect(reports).toBeGreaterThanOrEqual(8);
  expect(reports).toBeLessThanOrEqual(24);
  expect(line.sentRtcp.every(({ target }) => target.port === 4001)).toBe(true);
  expect(
    Buffer.from(line.sentRtcp.at(-1)?.datagram ?? []).includes(Buffer.of(0x81, 203, 0, 1)),
  ).toBe(true);
});

test('RtpSession sends its reports through the RTP port when that was agreed', () => {
  const line = new TestLine();
  line.setRemote({ isRtcpMuxed: true, rtcpPort: 4000 });
  const rtpPackets = () => line.sent.length;

  line.clock.advance(8000);

  expect(line.sentRtcp).toEqual([]);
  expect(rtpPackets()).toBeGreaterThan(390);
});

/** Sequence and timestamp go on by one packet each. */
function expectSeamless(line: TestLine): void {
  const [first] = line.sent;
  const wrong = line.sent.filter(
    ({ sequence, timestamp }, index) =>
      sequence !== (((first?.sequence ?? 0) + index) & 0xffff) ||
      timestamp !== ((first?.timestamp ?? 0) + index * 160) >>> 0,
  );
  expect(wrong).toEqual([]);
}
