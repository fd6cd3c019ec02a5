import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyTone } from '../../src/media/dsp/in-band-dtmf.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { SILENCE, TestSession, VOICE } from './test-session.ts';

/** What a caller sends that presses keys on a line without telephone-event. */
function press(session: TestSession, keys: string): void {
  for (const key of keys) {
    const pcm = keyTone(key, 800);
    for (let at = 0; at < pcm.length; at += 160) session.speak(pcm.subarray(at, at + 160));
    session.speakFor(100, SILENCE);
  }
}

function digitsOf(session: TestSession): string {
  return session.events.map((event) => (event.kind === 'digit' ? event.digit : '')).join('');
}

test('RtpSession hears keys by their tones where no telephone-event was agreed', () => {
  const session = new TestSession();
  session.setRemoteWithoutEvents();

  press(session, '0123456789*#ABCD');

  expect(digitsOf(session)).toBe('0123456789*#ABCD');
});

test('RtpSession leaves tones alone where telephone-event was agreed, at first or by a later offer', () => {
  const session = new TestSession();
  session.setRemote();
  press(session, '12');

  session.setRemoteWithoutEvents();
  press(session, '34');
  session.setRemote();
  press(session, '56');

  expect(digitsOf(session)).toBe('34');
});

test('RtpSession keeps tones out of the ring and takes them for no voice, but records them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  const path = join(folder, 'call.wav');
  const session = new TestSession();
  session.setRemoteWithoutEvents();
  session.session.record(path, session.nowMs);
  session.speakFor(100);
  session.speakFor(100, SILENCE);

  press(session, '147');
  session.speakFor(100);

  await session.session.close(session.nowMs);
  const recorded = new Int16Array(Uint8Array.from(readFileSync(path).subarray(44)).buffer);
  rmSync(folder, { recursive: true });
  const caller = recorded.filter((_, at) => at % 2 === 0);
  expect(session.heardAsLetters()).toMatch(/^v{5}[v.]\.{33,34}v{5}$/);
  expect(session.kinds().filter((kind) => kind === 'voice-started')).toHaveLength(2);
  expect(levelDbfs(caller.subarray(1600, 2400))).toBeGreaterThan(-20);
});

test('RtpSession hears a key whose packets were lost in part, once', () => {
  const session = new TestSession();
  session.setRemoteWithoutEvents();
  const pcm = keyTone('9', 1600);

  session.speakFor(60, VOICE);
  session.speakFor(60, SILENCE);
  for (let at = 0; at < pcm.length; at += 160) {
    if (at === 640) session.lose();
    else session.speak(pcm.subarray(at, at + 160));
  }
  session.speakFor(100, SILENCE);

  expect(digitsOf(session)).toBe('9');
});

test.each([
  ['telephone-event', true],
  ['tones', false],
])('RtpSession keeps a private caller out of ring and recording, and tells keys by %s', async (_way, hasEvents) => {
  const folder = mkdtempSync(join(tmpdir(), 'private-'));
  const path = join(folder, 'call.wav');
  const session = new TestSession();
  if (hasEvents) session.setRemote();
  else session.setRemoteWithoutEvents();
  session.session.record(path, session.nowMs);
  session.speakFor(200);
  session.session.setPrivate(true);
  if (!hasEvents) press(session, '147');
  session.speakFor(400);
  session.session.setPrivate(false);
  session.speakFor(200);

  await session.session.close(session.nowMs);
  const recorded = new Int16Array(Uint8Array.from(readFileSync(path).subarray(44)).buffer);
  rmSync(folder, { recursive: true });
  const caller = recorded.filter((_, at) => at % 2 === 0);
  const privateMs = hasEvents ? 400 : 1000;
  expect(caller.length / 8).toBe(400 + privateMs);
  expect(caller.subarray(1600, 1600 + privateMs * 8).every((sample) => sample === 0)).toBe(true);
  expect(levelDbfs(caller.subarray(0, 1600))).toBeGreaterThan(-20);
  expect(levelDbfs(caller.subarray(-1600))).toBeGreaterThan(-20);
  expect(session.heardAsLetters()).toMatch(new RegExp(`^v{10}\\.{${privateMs / 20}}v{10}$`));
  expect(digitsOf(session)).toBe(hasEvents ? '' : '147');
});
