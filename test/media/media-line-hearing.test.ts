import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { writeTelephoneEvent } from '../../src/rtp/dtmf-receiver.ts';
import { SILENCE, TestLine, VOICE } from './test-line.ts';

function listening(): TestLine {
  const line = new TestLine();
  line.setRemote();
  return line;
}

test('RtpSession writes what it hears into the ring', () => {
  const line = listening();

  line.speakFor(100);
  line.speakFor(60, SILENCE);

  expect(line.heardAsLetters()).toBe('vvvvv...');
  expect(line.heard.endAtMs).toBe(line.nowMs - 20);
});

test('RtpSession decodes A-law under its own number too', () => {
  const line = listening();

  line.speak(VOICE, { payloadType: 8, payload: encodeG711('PCMA', VOICE) });

  expect(levelDbfs(line.heard.read(0))).toBeCloseTo(levelDbfs(VOICE), 1);
});

test('RtpSession puts silence in the place of lost packets', () => {
  const line = listening();

  line.speakFor(60);
  line.lose();
  line.lose();
  line.speakFor(80);

  expect(line.heardAsLetters()).toBe('vvv..vvvv');
});

test('RtpSession writes silence by the clock when a caller sends none', () => {
  const line = listening();
  line.speakFor(200);

  line.pauseFor(2000);
  line.speakFor(100);

  const all = line.heardAsLetters();
  expect(all).toMatch(/^v{10}\.+v{5}$/);
  expect(Math.abs(all.length - 115)).toBeLessThanOrEqual(2);
});

test('RtpSession tells the end of speech by the clock when a caller sends no silence', () => {
  const line = listening();
  line.speakFor(200);
  const lastVoicedAtMs = line.nowMs - 20;

  line.pauseFor(120);

  expect(line.events).toEqual([
    { kind: 'voice-started', atMs: lastVoicedAtMs - 180 },
    { kind: 'voice-stopped', lastVoicedAtMs },
  ]);
});

test('RtpSession keeps the ring at the clock before the first packet', () => {
  const line = listening();

  line.clock.advance(1000);

  expect(line.heard.end).toBeGreaterThanOrEqual(8 * 900);
});

test('RtpSession keeps all of a burst that the network held up', () => {
  const line = listening();
  line.speakFor(100);
  line.clock.advance(300);

  const frozenAtMs = line.nowMs;
  line.clock.nowMs = () => frozenAtMs;
  for (let packet = 0; packet < 15; packet += 1) line.speak(VOICE);

  expect(line.heardAsLetters().match(/v/g)).toHaveLength(20);
});

test('RtpSession hears what waited in the socket while its own thread stood still, before it judges', () => {
  const line = listening();
  line.speakFor(300);

  line.stallFor(140);
  for (let packet = 0; packet < 7; packet += 1) line.hear(VOICE);
  line.speakFor(100);

  expect(line.heardAsLetters()).toBe('v'.repeat(27));
  expect(line.kinds()).toEqual(['voice-started']);
});

test.each([
  ['another SSRC', { ssrc: 5, sequence: 30_000, timestamp: 77 }],
  ['a count begun anew', { sequence: 30_000, timestamp: 77 }],
])('RtpSession hears on at once after %s', (_name, start) => {
  const line = listening();
  line.speakFor(100);

  for (let packet = 0; packet < 5; packet += 1) {
    const { sequence, timestamp } = start;
    line.speak(VOICE, {
      ...start,
      sequence: sequence + packet,
      timestamp: timestamp + packet * 160,
    });
  }

  expect(line.heardAsLetters()).toBe('v'.repeat(10));
});

test('RtpSession takes music on hold for silence', () => {
  const line = listening();
  line.speakFor(100);

  line.setRemote({ maySend: false });
  line.speakFor(1000);

  expect(line.heardAsLetters()).toMatch(/^v{5}\.{49,51}$/);
});

test('RtpSession takes digits out of the audio', () => {
  const line = listening();
  line.speakFor(60);
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
    line.speak(VOICE, key(durationSamples, isEnd));
  }
  line.speakFor(60);

  expect(line.events.filter(({ kind }) => kind === 'digit')).toEqual([
    { kind: 'digit', digit: '5', durationMs: 60 },
  ]);
  expect(line.heardAsLetters()).toBe('vvv.....vvv');
});

test('RtpSession reports lost media once, and again only after it was back', () => {
  const line = listening();
  line.speakFor(100);

  line.pauseFor(60_000);
  const once = line.kinds().filter((kind) => kind === 'media-lost').length;
  line.speakFor(100);
  line.pauseFor(20_000);

  expect(once).toBe(1);
  expect(line.kinds().filter((kind) => kind === 'media-lost')).toHaveLength(2);
});

test.each([
  ['on hold', { maySend: false }],
  ['held both ways', { maySend: false, mayReceive: false }],
])('RtpSession misses no media %s', (_name, changes) => {
  const line = listening();
  line.setRemote(changes);

  line.pauseFor(60_000);

  expect(line.events).toEqual([]);
});

test('RtpSession misses no media after comfort noise', () => {
  const line = listening();
  line.speak(VOICE, { payloadType: 13, payload: Uint8Array.of(70) });

  line.pauseFor(60_000);

  expect(line.events).toEqual([]);
});
