import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { DtmfDetector, keyTone } from '../../src/media/dsp/in-band-dtmf.ts';
import { parseTelephoneEvent } from '../../src/rtp/dtmf.ts';
import { readStereo } from '../support/speech/recording.ts';
import { testFolder } from '../support/store/test-store.ts';
import { FAR_END, reply, SILENCE, TestSession, VOICE } from './test-session.ts';

test('RtpSession sends nothing before it knows where to', () => {
  const session = new TestSession();

  session.session.begin(1);
  session.session.say(1, reply(10), session.nowMs);
  session.clock.advance(1000);

  expect(session.sent).toEqual([]);
});

test('RtpSession sends a silent packet every 20 ms while idle', () => {
  const session = new TestSession();
  session.setRemote();

  session.clock.advance(2000);

  expect(session.sent.length).toBeGreaterThanOrEqual(99);
  expect(
    session.sent.every(
      ({ target, payload }) =>
        target.port === FAR_END.port && payload.every((byte) => byte === 0xff),
    ),
  ).toBe(true);
  expectSeamless(session);
});

test('RtpSession starts a reply at once, marked, between two beats', () => {
  const session = new TestSession();
  session.setRemote();
  session.clock.advance(107);
  const before = session.sent.length;

  session.session.begin(1);
  session.session.say(1, reply(5), session.nowMs);

  expect(session.sent.slice(before)).toMatchObject([{ hasMarker: true, atMs: session.nowMs }]);
  expect(session.events).toEqual([{ kind: 'playout-started', generation: 1, atMs: session.nowMs }]);
});

test('RtpSession keeps 20 ms between the packets of a reply and gives back the lead in the silence after it', () => {
  const session = new TestSession();
  session.setRemote();
  session.clock.advance(107);
  const gridAtMs = session.sent.at(-1)?.atMs ?? 0;

  session.session.begin(1);
  session.session.say(1, reply(5), session.nowMs);
  const startedAtMs = session.nowMs;
  session.session.finish(1, session.nowMs);
  session.clock.advance(500);

  const after = session.sent.filter(({ atMs }) => atMs >= startedAtMs).map(({ atMs }) => atMs);
  expect(after.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((index) => startedAtMs + index * 20));
  expect(((after[5] ?? 0) - gridAtMs) % 20).toBe(0);
  expect(session.sent.filter(({ hasMarker }) => hasMarker)).toHaveLength(1);
  expectSeamless(session);
});

test('RtpSession has sent one packet for each 20 ms after a hundred replies', () => {
  const session = new TestSession();
  session.setRemote();

  for (let generation = 1; generation <= 100; generation += 1) {
    session.session.begin(generation);
    session.session.say(generation, reply(3), session.nowMs);
    session.session.finish(generation, session.nowMs);
    session.clock.advance(313);
  }

  expect(Math.abs(session.sent.length - 31_300 / 20)).toBeLessThanOrEqual(1);
  expectSeamless(session);
});

test('RtpSession plays a reply whole and in order, and says when it is over', () => {
  const session = new TestSession();
  session.setRemote();
  const pcm = reply(6);
  session.session.begin(1);

  session.session.say(1, pcm.subarray(0, 500), session.nowMs);
  session.session.say(1, pcm.subarray(500), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.clock.advance(200);

  const heard = session.sent
    .filter(({ payload }) => payload[0] !== 0xff)
    .flatMap(({ payload }) => [...payload]);
  expect(heard).toEqual([...encodeG711('PCMU', pcm)]);
  expect(session.events[1]).toEqual({
    kind: 'playout-finished',
    generation: 1,
    playedMs: 120,
    isComplete: true,
  });
});

test('RtpSession sends A-law when that was agreed', () => {
  const session = new TestSession();
  session.setRemote({ codec: 'PCMA', payloadType: 8 });

  session.session.begin(1);
  session.session.say(1, VOICE, session.nowMs);

  expect(session.sent.at(-1)).toMatchObject({ payloadType: 8 });
  expect(decodeG711('PCMA', session.sent.at(-1)?.payload ?? new Uint8Array())[10]).toBeCloseTo(
    VOICE[10] ?? 0,
    -3,
  );
});

test('RtpSession lets no stale audio out when a new reply begins', () => {
  const session = new TestSession();
  session.setRemote();
  session.session.begin(1);
  session.session.say(1, reply(50), session.nowMs);
  session.clock.advance(100);

  session.session.begin(2);
  session.session.say(1, reply(50), session.nowMs);
  const before = session.sent.length;
  session.clock.advance(200);

  expect(session.sent.slice(before).every(({ payload }) => payload[0] === 0xff)).toBe(true);
  expect(session.kinds()).toEqual(['playout-started', 'playout-finished']);
});

test('RtpSession holds a reply back while the far end holds the call', () => {
  const session = new TestSession();
  session.setRemote();
  session.session.begin(1);
  session.session.say(1, reply(10), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.clock.advance(50);

  session.setRemote({ maySend: false });
  const before = session.sent.length;
  session.clock.advance(10_000);
  const onHold = session.sent.length - before;
  session.setRemote();
  session.clock.advance(1000);

  expect(onHold).toBe(0);
  expect(session.events.at(-1)).toMatchObject({
    kind: 'playout-finished',
    playedMs: 200,
    isComplete: true,
  });
});

test('RtpSession sends keys in place of audio, with the time of their beginning', () => {
  const session = new TestSession();
  session.setRemote();
  session.clock.advance(100);

  session.session.sendDigits('1#');
  session.clock.advance(400);

  const keys = session.sent.filter(({ payloadType }) => payloadType === 101);
  const reports = keys.map(({ payload }) => parseTelephoneEvent(payload));
  expect(reports.map((report) => report?.event)).toEqual([
    ...new Array(7).fill(1),
    ...new Array(7).fill(11),
  ]);
  expect(new Set(keys.map(({ timestamp }) => timestamp)).size).toBe(2);
  expect(keys.filter(({ hasMarker }) => hasMarker)).toHaveLength(2);
});

test('RtpSession sends keys as tones to a far end that did not agree to events, and the reply waits', () => {
  const session = new TestSession();
  session.setRemoteWithoutEvents();
  session.speak(SILENCE);

  session.session.sendDigits('159D*');
  session.session.begin(1);
  session.session.say(1, reply(10), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.clock.advance(1200);

  const sent = Int16Array.from(
    session.sent.flatMap(({ payload }) => [...decodeG711('PCMU', payload)]),
  );
  const heard = new DtmfDetector().hear(sent);
  expect(session.sent.every(({ payloadType }) => payloadType === 0)).toBe(true);
  expect(heard.map(({ digit }) => digit).join('')).toBe('159D*');
  expect(heard.every(({ durationMs }) => Math.abs(durationMs - 100) < 15)).toBe(true);
  expect(session.kinds()).toContain('playout-finished');
});

test('RtpSession takes an echo of its own tones for no key of the caller', () => {
  const session = new TestSession();
  session.setRemoteWithoutEvents();

  session.session.sendDigits('55');
  for (let frame = 0; frame < 40; frame += 1) {
    const echo = session.sent.at(-5)?.payload;
    session.speak(echo === undefined ? SILENCE : decodeG711('PCMU', echo).map((s) => s / 2));
  }

  expect(session.kinds()).not.toContain('digit');
});

test.each([
  [true, 'hears keys by their tones meanwhile'],
  [false, 'leaves no hole in its packets'],
])('RtpSession in the pauses between keys (tones: %s) %s', (isByTones) => {
  const session = new TestSession();
  if (isByTones) session.setRemoteWithoutEvents();
  else session.setRemote();
  session.speak(SILENCE);

  session.session.sendDigits('1www');
  session.speakFor(1000, SILENCE);
  const pressed = keyTone('9', 800);
  for (let at = 0; at < pressed.length; at += 160) session.speak(pressed.subarray(at, at + 160));
  session.speakFor(1000, SILENCE);

  const holes = session.sent.slice(1).map(({ atMs }, at) => atMs - (session.sent[at]?.atMs ?? 0));
  const digits = session.events.filter(({ kind }) => kind === 'digit');
  expect(Math.max(...holes)).toBe(20);
  expect(digits).toHaveLength(isByTones ? 1 : 0);
});

test('RtpSession reports by RTCP about every 5 s, to the port above, and says goodbye', async () => {
  const session = new TestSession();
  session.setRemote();

  session.clock.advance(60_000);
  const reports = session.sentRtcp.length;
  await session.session.close(session.nowMs);

  expect(reports).toBeGreaterThanOrEqual(8);
  expect(reports).toBeLessThanOrEqual(24);
  expect(session.sentRtcp.every(({ target }) => target.port === 4001)).toBe(true);
  expect(
    Buffer.from(session.sentRtcp.at(-1)?.datagram ?? []).includes(Buffer.of(0x81, 203, 0, 1)),
  ).toBe(true);
});

test('RtpSession sends its reports through the RTP port when that was agreed', () => {
  const session = new TestSession();
  session.setRemote({ isRtcpMuxed: true, rtcpPort: 4000 });
  const rtpPackets = () => session.sent.length;

  session.clock.advance(8000);

  expect(session.sentRtcp).toEqual([]);
  expect(rtpPackets()).toBeGreaterThan(390);
});

/** Sequence and timestamp go on by one packet each. */
function expectSeamless(session: TestSession): void {
  const [first] = session.sent;
  const wrong = session.sent.filter(
    ({ sequence, timestamp }, index) =>
      sequence !== (((first?.sequence ?? 0) + index) & 0xffff) ||
      timestamp !== ((first?.timestamp ?? 0) + index * 160) >>> 0,
  );
  expect(wrong).toEqual([]);
}

test('RtpSession sends a reply on in the new codec when that changes in its middle', () => {
  const session = new TestSession();
  session.setRemote();
  session.session.begin(1);
  session.session.say(1, reply(4), session.nowMs);
  session.clock.advance(20);

  session.setRemote({ codec: 'PCMA', payloadType: 8 });
  session.clock.advance(40);

  const spoken = session.sent.filter(({ target }) => target.port === FAR_END.port).slice(0, 4);
  expect(spoken.map(({ payloadType }) => payloadType)).toEqual([0, 0, 8, 8]);
  expect(spoken.map(({ payload }) => payload[0])).toEqual([
    ...encodeG711('PCMU', Int16Array.of(1000, 1001)),
    ...encodeG711('PCMA', Int16Array.of(1002, 1003)),
  ]);
});

test('RtpSession records a reply as it was said, and not as it was encoded', async () => {
  const file = join(testFolder(), 'a.wav');
  const session = new TestSession();
  session.setRemote();
  session.session.record(file, session.nowMs);
  session.session.begin(1);

  session.session.say(1, reply(10), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.clock.advance(300);
  await session.session.close(session.nowMs);

  const right = readStereo(file)?.right ?? new Int16Array();
  expect(right.filter((sample) => sample !== 0)).toEqual(reply(10));
});
