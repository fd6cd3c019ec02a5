import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { writeTelephoneEvent } from '../../src/rtp/dtmf.ts';
import { SILENCE, TestSession, VOICE } from './test-session.ts';

function listening(): TestSession {
  const session = new TestSession();
  session.setRemote();
  return session;
}

test('RtpSession writes what it hears into the ring', () => {
  const session = listening();

  session.speakFor(100);
  session.speakFor(60, SILENCE);

  expect(session.heardAsLetters()).toBe('vvvvv...');
  expect(session.heard.endAtMs).toBe(session.nowMs - 20);
});

test('RtpSession decodes A-law under its own number too', () => {
  const session = listening();

  session.speak(VOICE, { payloadType: 8, payload: encodeG711('PCMA', VOICE) });

  expect(levelDbfs(session.heard.read(0))).toBeCloseTo(levelDbfs(VOICE), 1);
});

test('RtpSession conceals lost packets', () => {
  const session = listening();

  session.speakFor(60);
  session.lose();
  session.lose();
  session.speakFor(80);

  expect(session.heardAsLetters()).toBe('vvvvvvvvv');
});

test('RtpSession conceals no loss of which the clock has made silence', () => {
  const session = listening();

  session.speakFor(60);
  for (let packet = 0; packet < 8; packet += 1) session.lose();
  session.speakFor(80);

  expect(session.heardAsLetters()).toBe('vvv........vvvv');
});

test('RtpSession puts silence where the far end sent nothing: a gap in the timestamps without one in the count', () => {
  const session = listening();
  session.speakFor(60);

  session.skipSound(2);
  session.speakFor(80);

  expect(session.heardAsLetters()).toBe('vvv..vvvv');
});

test.each([
  ['comfort noise', { payloadType: 13, payload: Uint8Array.of(70) }],
  ['a key', { payloadType: 101, payload: Uint8Array.of(5, 0x8a, 0, 160) }],
])('RtpSession puts silence in the place of packets lost after %s', (_name, packet) => {
  const session = listening();
  session.speakFor(60);

  session.speak(VOICE, packet);
  session.lose();
  session.lose();
  session.speakFor(60);

  expect(session.heardAsLetters()).toBe('vvv...vvv');
});

test('RtpSession writes silence by the clock when a caller sends none', () => {
  const session = listening();
  session.speakFor(200);

  session.pauseFor(2000);
  session.speakFor(100);

  const all = session.heardAsLetters();
  expect(all).toMatch(/^v{10}\.+v{5}$/);
  expect(Math.abs(all.length - 115)).toBeLessThanOrEqual(2);
});

test('RtpSession tells the end of speech by the clock when a caller sends no silence', () => {
  const session = listening();
  session.speakFor(200);
  const lastVoicedAtMs = session.nowMs - 20;

  session.pauseFor(120);

  expect(session.events).toEqual([
    { kind: 'voice-started', atMs: lastVoicedAtMs - 180 },
    { kind: 'voice-stopped', lastVoicedAtMs },
  ]);
});

test('RtpSession keeps the ring at the clock before the first packet', () => {
  const session = listening();

  session.clock.advance(1000);

  expect(session.heard.end).toBeGreaterThanOrEqual(8 * 900);
});

test('RtpSession keeps all of a burst that the network held up', () => {
  const session = listening();
  session.speakFor(100);
  session.clock.advance(300);

  const frozenAtMs = session.nowMs;
  session.clock.nowMs = () => frozenAtMs;
  for (let packet = 0; packet < 15; packet += 1) session.speak(VOICE);

  expect(session.heardAsLetters().match(/v/g)).toHaveLength(20);
});

test('RtpSession hears what waited in the socket while its own thread stood still, before it judges', () => {
  const session = listening();
  session.speakFor(300);

  session.stallFor(140);
  for (let packet = 0; packet < 7; packet += 1) session.hear(VOICE);
  session.speakFor(100);

  expect(session.heardAsLetters()).toBe('v'.repeat(27));
  expect(session.kinds()).toEqual(['voice-started']);
});

test.each([
  ['another SSRC', { ssrc: 5, sequence: 30_000, timestamp: 77 }],
  ['a reset of the sequence number', { sequence: 30_000, timestamp: 77 }],
])('RtpSession receives on at once after %s', (_name, start) => {
  const session = listening();
  session.speakFor(100);

  for (let packet = 0; packet < 5; packet += 1) {
    const { sequence, timestamp } = start;
    session.speak(VOICE, {
      ...start,
      sequence: sequence + packet,
      timestamp: timestamp + packet * 160,
    });
  }

  expect(session.heardAsLetters()).toBe('v'.repeat(10));
});

test('RtpSession takes music on hold for silence', () => {
  const session = listening();
  session.speakFor(100);

  session.setRemote({ maySend: false });
  session.speakFor(1000);

  expect(session.heardAsLetters()).toMatch(/^v{5}\.{49,51}$/);
});

test('RtpSession takes digits out of the audio', () => {
  const session = listening();
  session.speakFor(60);
  const key = (durationSamples: number, isEnd: boolean) => ({
    payloadType: 101,
    timestamp: 0xffff_f000 + 480,
    payload: writeTelephoneEvent({ event: 5, isEnd, durationSamples }),
  });

  for (const [durationSamples, isEnd] of [
    [160, false],
    [320, false],
    [480, true],
    [480, true],
    [480, true],
  ] as const) {
    session.speak(VOICE, key(durationSamples, isEnd));
  }
  session.speakFor(60);

  expect(session.events.filter(({ kind }) => kind === 'digit')).toEqual([
    { kind: 'digit', digit: '5', durationMs: 60 },
  ]);
  expect(session.heardAsLetters()).toBe('vvv.....vvv');
});

test('RtpSession reports lost media once, and again only after it was back', () => {
  const session = listening();
  session.speakFor(100);

  session.pauseFor(60_000);
  const once = session.kinds().filter((kind) => kind === 'media-lost').length;
  session.speakFor(100);
  session.pauseFor(20_000);

  expect(once).toBe(1);
  expect(session.kinds().filter((kind) => kind === 'media-lost')).toHaveLength(2);
});

test.each([
  ['on hold', { maySend: false }],
  ['held both ways', { maySend: false, mayReceive: false }],
])('RtpSession misses no media %s', (_name, changes) => {
  const session = listening();
  session.setRemote(changes);

  session.pauseFor(60_000);

  expect(session.kinds()).toEqual(['hold']);
});

test('RtpSession tells once of a hold, and once of its end', () => {
  const session = listening();

  session.setRemote({ maySend: false });
  session.setRemote({ maySend: false, mayReceive: false });
  session.setRemote();
  session.setRemote();

  expect(session.events).toEqual([
    { kind: 'hold', isOnHold: true },
    { kind: 'hold', isOnHold: false },
  ]);
});

test('RtpSession misses no media after comfort noise', () => {
  const session = listening();
  session.speak(VOICE, { payloadType: 13, payload: Uint8Array.of(70) });

  session.pauseFor(60_000);

  expect(session.events).toEqual([]);
});
