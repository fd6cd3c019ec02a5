/** Two sessions that are joined: what one hears goes out of the other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { WAV_HEADER_BYTES } from '../../src/media/recording/wav-file.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { writeTelephoneEvent } from '../../src/rtp/dtmf.ts';
import { testFolder } from '../support/store/test-store.ts';
import { reply, SILENCE, TestSession, tone, VOICE } from './test-session.ts';

const SILENCE_BYTES = new Uint8Array(160);

/** Two sessions on one clock; `pass` lets 20 ms of time go by on both. */
function openPair(agreed = {}) {
  const [one, other] = [new TestSession(), new TestSession()];
  one.setRemote();
  other.setRemote(agreed);
  other.session.feed.from(one.session.feed);
  const pass = () => {
    one.clock.advance(20);
    other.clock.advance(20);
  };
  const speak = (pcm: Int16Array, options = {}) => {
    one.hear(pcm, options);
    pass();
  };
  return { one, other, pass, speak };
}

/** Mean magnitude of one side of a recording, from one instant to another. */
function loudness(wav: Buffer, side: 'caller' | 'agent', fromMs: number, untilMs: number): number {
  const at = (ms: number) => WAV_HEADER_BYTES + ms * 32 + (side === 'caller' ? 0 : 2);
  const samples = Array.from({ length: (untilMs - fromMs) * 8 }, (_, index) =>
    Math.abs(wav.readInt16LE(at(fromMs) + index * 4)),
  );
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}

test('RtpSession sends on what a joined session hears, without silence in between', () => {
  const { other, speak } = openPair();

  for (let at = 0; at < 10; at += 1) speak(VOICE);

  const [first, ...rest] = other.sent.filter(({ payload }) => payload[5] !== 0xff);
  expect(rest).toHaveLength(9);
  expect(first?.hasMarker).toBe(true);
  expect(first?.payload).toEqual(encodeG711('PCMU', VOICE));
  expect(other.sent).toHaveLength(10);
  expect(new Set(other.sent.map(({ ssrc }) => ssrc)).size).toBe(1);
});

test('RtpSession says it in the other law, and in the numbers that its far end knows', () => {
  const { other, speak } = openPair({
    codec: 'PCMA',
    payloadType: 8,
    telephoneEventPayloadType: 96,
  });
  const press = { event: 5, isEnd: true, durationSamples: 800 };

  speak(VOICE);
  speak(SILENCE, { payloadType: 101, payload: writeTelephoneEvent(press) });

  const [voice, key] = other.sent;
  expect(voice?.payloadType).toBe(8);
  const apart = decodeG711('PCMA', voice?.payload ?? SILENCE_BYTES).map((sample, index) =>
    Math.abs(sample - (VOICE[index] ?? 0)),
  );
  expect(Math.max(...apart)).toBeLessThan(600);
  expect(key).toMatchObject({ payloadType: 96, payload: writeTelephoneEvent(press) });
});

test('RtpSession keeps sound and keys of a private far end from the joined one', () => {
  const { one, other, speak } = openPair();
  const press = { event: 5, isEnd: true, durationSamples: 800 };
  speak(VOICE);
  one.session.setPrivate(true);
  other.sent.length = 0;

  for (let at = 0; at < 20; at += 1) speak(VOICE);
  speak(SILENCE, { payloadType: 101, payload: writeTelephoneEvent(press) });

  expect(one.events).toContainEqual({ kind: 'digit', digit: '5', durationMs: 100 });
  expect(other.sent.length).toBeGreaterThan(5);
  for (const packet of other.sent) {
    expect(packet.payloadType).toBe(0);
    expect(packet.payload).toEqual(encodeG711('PCMU', SILENCE));
  }
});

test('RtpSession keeps the gap of a lost packet for its far end to notice', () => {
  const { one, other, pass, speak } = openPair();

  speak(VOICE);
  one.lose();
  other.clock.advance(20);
  speak(VOICE);
  pass();

  const [first, second] = other.sent;
  expect(((second?.sequence ?? 0) - (first?.sequence ?? 0)) & 0xffff).toBe(2);
  expect(((second?.timestamp ?? 0) - (first?.timestamp ?? 0)) >>> 0).toBe(320);
});

test('RtpSession gives no number twice after a packet of the joined session that came late', () => {
  const { other, pass, speak } = openPair();

  for (const place of [0, 2, 1]) speak(VOICE, { sequence: 100 + place, timestamp: place * 160 });
  for (let at = 0; at < 12; at += 1) pass();

  const [first, ...rest] = other.sent.map(({ sequence }) => sequence);
  const steps = rest.map((sequence) => (sequence - (first ?? 0)) & 0xffff);
  expect(steps.slice(0, 4)).toEqual([2, 1, 3, 4]);
});

test('RtpSession goes on after what it sent on, however fast the clock of the joined session', () => {
  const { other, pass, speak } = openPair();

  for (let at = 0; at < 20; at += 1) speak(VOICE, { sequence: 100 + at, timestamp: at * 320 });
  for (let at = 0; at < 12; at += 1) pass();

  const times = other.sent.map(({ timestamp }) => timestamp);
  const steps = times.slice(1).map((timestamp, at) => (timestamp - (times[at] ?? 0)) | 0);
  expect(steps.length).toBeGreaterThan(20);
  expect(Math.min(...steps)).toBeGreaterThan(0);
});

test('RtpSession fills in once the joined session has nothing for 200 ms, with its background where it has one', () => {
  const { other, pass, speak } = openPair();
  other.session.setBackground(tone(3000));

  speak(VOICE);
  for (let at = 0; at < 12; at += 1) pass();

  const [, ...filled] = other.sent;
  expect(filled).toHaveLength(4);
  expect(filled[0]?.payload).toEqual(encodeG711('PCMU', tone(3000)));
  expect((filled[0]?.atMs ?? 0) - (other.sent[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(200);
});

test('RtpSession drops what a joined session hears while the agent speaks itself', () => {
  const { other, speak } = openPair();
  speak(VOICE);

  other.session.begin(1);
  other.session.say(1, reply(5), other.nowMs);
  other.session.finish(1, other.nowMs);
  for (let at = 0; at < 5; at += 1) speak(VOICE);
  speak(VOICE);
  speak(VOICE);

  const loud = encodeG711('PCMU', VOICE);
  const letters = other.sent.map(({ payload }) =>
    Buffer.compare(payload, loud) === 0 ? 'f' : 'a',
  );
  const sequences = other.sent.map(({ sequence }) => sequence);
  expect(letters.join('')).toMatch(/^fa{5}f+$/);
  expect(
    sequences.every((at, index) => index === 0 || at === (sequences[index - 1] ?? 0) + 1),
  ).toBe(true);
});

test('RtpSession records both far ends of a joined talk, each on its own side', async () => {
  const { one, other, pass } = openPair();
  one.session.feed.from(other.session.feed);
  const path = join(testFolder(), 'call.wav');
  other.session.record(path, other.nowMs);

  for (let at = 0; at < 100; at += 1) {
    one.hear(at < 50 ? VOICE : SILENCE);
    other.hear(at < 50 ? SILENCE : VOICE);
    pass();
  }
  await other.session.close(other.nowMs);

  const file = readFileSync(path);
  expect(loudness(file, 'caller', 100, 900)).toBeLessThan(100);
  expect(loudness(file, 'agent', 100, 900)).toBeGreaterThan(5000);
  expect(loudness(file, 'caller', 1100, 1900)).toBeGreaterThan(5000);
  expect(loudness(file, 'agent', 1100, 1900)).toBeLessThan(100);
});

test('RtpSession lets a listener hear what a joined session sends on', () => {
  const { other, speak } = openPair();
  const played = new ReceiveRing();
  other.session.tap(played);

  for (let at = 0; at < 20; at += 1) speak(VOICE);

  const heard = played.read(0);
  expect(heard.length).toBeGreaterThanOrEqual(20 * 160 - 160);
  expect(Math.max(...heard)).toBeGreaterThan(5000);
});

test('RtpSession keeps pauses of a joined talk as long as they were', async () => {
  const { other, pass, speak } = openPair();
  const path = join(testFolder(), 'call.wav');
  other.session.record(path, other.nowMs);

  for (let at = 0; at < 25; at += 1) speak(VOICE);
  for (let at = 0; at < 50; at += 1) pass();
  for (let at = 0; at < 25; at += 1) speak(VOICE);
  await other.session.close(other.nowMs);

  const file = readFileSync(path);
  expect(loudness(file, 'agent', 600, 1400)).toBeLessThan(100);
  expect(loudness(file, 'agent', 1580, 1960)).toBeGreaterThan(5000);
});

test('SoundFeed takes from one session at a time, gives to one, and to none once closed', async () => {
  const { one, other, speak } = openPair();
  const third = new TestSession();
  third.setRemote();

  third.session.feed.from(one.session.feed);
  speak(VOICE);
  const heardByOther = other.sent.filter(({ payload }) => payload[5] !== 0xff);
  await third.session.close(third.nowMs);
  const sentBefore = third.sent.length;
  speak(VOICE);

  expect(heardByOther).toEqual([]);
  expect(sentBefore).toBe(1);
  expect(third.sent).toHaveLength(sentBefore);
});
