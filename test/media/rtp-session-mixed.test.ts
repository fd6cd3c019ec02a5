/** Two sessions that are mixed: what their far ends, the agent between them and the recording hear. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { decodeG711 } from '../../src/media/dsp/g711.ts';
import { keyTone } from '../../src/media/dsp/in-band-dtmf.ts';
import { WAV_HEADER_BYTES } from '../../src/media/recording/wav-file.ts';
import { writeTelephoneEvent } from '../../src/rtp/dtmf.ts';
import { SILENCE, TestSession } from './test-session.ts';

const FRAME = 160;
const [CALLER, COLLEAGUE, AGENT] = [4_000, 2_000, 1_000] as const;

const level = (value: number, frames = 1) => new Int16Array(frames * FRAME).fill(value);

/** A call with its agent, and the session of a colleague, mixed; `pass` lets 20 ms of all three go by. */
function openPair() {
  const [call, colleague] = [new TestSession(), new TestSession()];
  call.setRemote();
  colleague.setRemote();
  call.session.feed.mixWith(colleague.session.feed);
  const pass = (frames: number, from: number = CALLER, other: number = COLLEAGUE) => {
    for (let at = 0; at < frames; at += 1) {
      colleague.hear(level(other));
      call.hear(level(from));
      call.clock.advance(20);
      colleague.clock.advance(20);
    }
  };
  return { call, colleague, pass };
}

/** The levels that a far end was sent in its last 100 ms, to the nearest 500, each once. */
function sentTo({ sent }: TestSession): number[] {
  const pcm = sent.slice(-5).flatMap(({ payload }) => [...decodeG711('PCMU', payload)]);
  return [...new Set(pcm.map((sample) => Math.round(sample / 500) * 500))];
}

const say = ({ session, nowMs }: TestSession, frames: number) => {
  session.begin(1);
  session.say(1, level(AGENT, frames), nowMs);
  session.finish(1, nowMs);
};

test('RtpSession lets each of two far ends hear the other one and the agent, and the agent hear both', () => {
  const { call, colleague, pass } = openPair();

  pass(10);
  say(call, 40);
  pass(30);

  expect(sentTo(call)).toEqual([COLLEAGUE + AGENT]);
  expect(sentTo(colleague)).toEqual([CALLER + AGENT]);
  const heard = call.heard.read(0).slice(-FRAME);
  expect(heard[0]).toBeGreaterThan(CALLER + COLLEAGUE - 300);
  expect(heard[0]).toBeLessThan(CALLER + COLLEAGUE + 300);
});

test('RtpSession gives an agent that speaks way to either of both', () => {
  const { call, pass } = openPair();
  call.session.setPauseAfter(60);
  pass(50, 0, 0);

  say(call, 100);
  pass(10, 0, 0);
  pass(10, 0, COLLEAGUE);

  expect(call.kinds()).toEqual(['playout-started', 'voice-started', 'playout-paused']);
});

test('RtpSession goes on with the rest when one of the two holds, and when it comes back', () => {
  const { call, colleague, pass } = openPair();
  pass(10);

  colleague.setRemote({ maySend: false, mayReceive: false });
  const before = colleague.sent.length;
  pass(20);
  const [toCaller, toHolder] = [sentTo(call), colleague.sent.length - before];
  colleague.setRemote();
  pass(20);

  expect(toCaller).toEqual([0]);
  expect(toHolder).toBe(0);
  expect(sentTo(call)).toEqual([COLLEAGUE]);
  expect(sentTo(colleague)).toEqual([CALLER]);
});

test('RtpSession passes the keys of a far end to its agent and to the other far end', () => {
  const { call, colleague, pass } = openPair();
  const press = { event: 5, isEnd: true, durationSamples: 800 };

  call.hear(SILENCE, { payloadType: 101, payload: writeTelephoneEvent(press) });
  pass(10, 0, 0);

  expect(call.events).toMatchObject([{ kind: 'digit', digit: '5' }]);
  const [key] = colleague.sent.filter(({ payloadType }) => payloadType === 101);
  expect(key?.payload[0]).toBe(5);
});

test.each([
  ['telephone-event', true],
  ['tones', false],
])('RtpSession passes keys by %s of a private far end to its agent alone', (_way, hasEvents) => {
  const { call, colleague, pass } = openPair();
  const press = { event: 5, isEnd: true, durationSamples: 800 };
  const tone = keyTone('5', 800);
  if (!hasEvents) call.setRemoteWithoutEvents();
  call.session.setPrivate(true);
  pass(10, 0, 0);

  if (hasEvents) call.hear(SILENCE, { payloadType: 101, payload: writeTelephoneEvent(press) });
  else for (let at = 0; at < 800; at += FRAME) call.speak(tone.subarray(at, at + FRAME));
  pass(10, 0, 0);

  const keys = colleague.sent.filter(({ payloadType }) => payloadType === 101);
  expect(call.events).toMatchObject([{ kind: 'digit', digit: '5' }]);
  expect(keys).toEqual([]);
  expect(sentTo(colleague)).toEqual([0]);
});

test('RtpSession that is mixed no more, or whose other session is closed, is alone with its agent', async () => {
  const { call, colleague, pass } = openPair();
  pass(10);

  await colleague.session.close(colleague.nowMs);
  for (let at = 0; at < 10; at += 1) {
    colleague.session.feed.hear(level(COLLEAGUE));
    call.speak(level(CALLER));
  }
  const [toCaller, heard] = [sentTo(call), call.heard.read(0).slice(-FRAME)];

  expect(toCaller).toEqual([0]);
  expect(Math.abs((heard[0] ?? 0) - CALLER)).toBeLessThan(300);
});

test('RtpSession is mixed with one session at a time, and never with itself', () => {
  const { call, colleague, pass } = openPair();
  const third = new TestSession();
  third.setRemote();

  third.session.feed.mixWith(colleague.session.feed);
  third.session.feed.mixWith(third.session.feed);
  third.session.feed.mixWith(colleague.session.feed);
  pass(10);
  third.clock.advance(40);

  expect(sentTo(call)).toEqual([0]);
  expect(sentTo(third)).toEqual([COLLEAGUE]);
});

test('RtpSession records the caller left, and the agent with the other far end right', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-mixed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'call.wav');
  const { call, pass } = openPair();
  call.session.record(path, call.nowMs);

  pass(20);
  say(call, 20);
  pass(15);
  await call.session.close(call.nowMs);

  const bytes = readFileSync(path).subarray(WAV_HEADER_BYTES);
  const [left, right] = [bytes.readInt16LE(32 * 640), bytes.readInt16LE(32 * 640 + 2)];
  expect(Math.abs(left - CALLER)).toBeLessThan(300);
  expect(Math.abs(right - COLLEAGUE - AGENT)).toBeLessThan(300);
});
