/** A session whose far end gives the agent's voice back, over a network that delays packets in bursts. */
import { expect, test } from 'vitest';
import { decodeG711 } from '../../src/media/dsp/g711.ts';
import { readPhrase, SPOKEN_PHRASES } from '../speech/spoken-phrases.ts';
import { EchoPath } from '../support/speech/echo-path.ts';
import { TestSession } from './test-session.ts';

const BURST_EVERY_MS = 2_000;

/** Has the agent speak for half a minute on a line with an echo; null is a line without. */
function speakOn(path: EchoPath | null, lateMs: number): TestSession {
  const world = new TestSession();
  world.setRemote();
  world.session.begin(1);
  for (const { file } of SPOKEN_PHRASES) world.session.say(1, readPhrase(file), world.nowMs);
  world.session.finish(1, world.nowMs);
  const waiting: Int16Array[] = [];
  let echoed = 0;
  const isOver = () => world.events.some(({ kind }) => kind === 'playout-finished');
  for (let atMs = 0; !isOver(); atMs += 20) {
    for (const { payload } of world.sent.slice(echoed)) {
      const pcm = decodeG711('PCMU', payload);
      waiting.push(path?.pass(pcm) ?? new Int16Array(pcm.length));
    }
    echoed = world.sent.length;
    const isLate = atMs % BURST_EVERY_MS < lateMs;
    if (!isLate) for (const pcm of waiting.splice(0)) world.hear(pcm);
    world.clock.advance(20);
  }
  return world;
}

/** How often the session took the echo for a voice. */
function voicesHeard(delayMs: number, lateMs: number): number {
  const { events } = speakOn(new EchoPath({ delayMs, gainDb: -20, smearMs: 8 }), lateMs);
  return events.filter(({ kind }) => kind === 'voice-started').length;
}

const DELAYS_MS = [40, 137, 250];

test.each(DELAYS_MS)('an echo after %d ms is no voice', (delayMs) => {
  expect(voicesHeard(delayMs, 0)).toBe(0);
});

test.each(
  DELAYS_MS,
)('an echo after %d ms is no voice where packets are late by 120 ms every 2 s', (delayMs) => {
  expect(voicesHeard(delayMs, 120)).toBeLessThanOrEqual(1);
});

test('the receive ring says up to where an echo may be in it, on a line that has one', () => {
  const { heard, clock } = speakOn(new EchoPath({ delayMs: 137, gainDb: -20, smearMs: 8 }), 0);
  const spokenEnd = heard.end;
  const whileSpeaking = heard.echoEnd;
  clock.advance(3000);

  expect(whileSpeaking).toBeGreaterThan(spokenEnd - 0.5 * 8000);
  expect(heard.end - spokenEnd).toBeGreaterThan(2 * 8000);
  expect(heard.echoEnd - spokenEnd).toBeLessThan(0.6 * 8000);
  expect(speakOn(null, 0).heard.echoEnd).toBe(0);
});
