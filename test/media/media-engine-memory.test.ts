import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { MediaSession } from '../../src/media/audio-stream.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { RING_MS } from '../../src/media/sound-rings.ts';
import { TestPhone } from './test-phone.ts';
import { VOICE } from './test-session.ts';

let laterMs = 0;

/** A clock whose hands the test can put forward. */
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + laterMs };

const engine = new MediaEngine({
  ...{ clock, log: silentLogger, ports: { first: 16_340, last: 16_399 } },
  ...{ workers: 1, isRealTime: false },
});
beforeAll(() => engine.start());
afterAll(() => engine.stop());

function openSession(): Promise<MediaSession> {
  return engine.open({ signallingAddress: '127.0.0.1' });
}

/** Resolves when the session has heard a voice. */
async function hearVoice(session: MediaSession): Promise<void> {
  const phone = await TestPhone.open();
  onTestFinished(() => phone.close());
  const heard = new Promise<void>((resolve) => {
    session.onEvent(({ kind }) => kind === 'voice-started' && resolve());
  });
  session.setRemote(phone.agreed);
  await phone.untilReceived(1);
  for (let packet = 0; packet < 5; packet += 1) phone.send(VOICE, session.localPort);
  await heard;
}

test('MediaEngine gives the memory of a call that has been over for 4 s to the next one, and neither hears the other', async () => {
  const before = await openSession();
  await hearVoice(before);
  await before.close();
  laterMs += RING_MS;

  const next = await openSession();

  expect(next.heard.buffer.memory).toBe(before.heard.buffer.memory);
  expect(next.heard.read(0)).toHaveLength(0);
  await hearVoice(next);
  expect(before.heard.read(0)).toHaveLength(0);
});

test('MediaEngine gives calls that go on at one time memory of their own', async () => {
  const [one, other] = await Promise.all([openSession(), openSession()]);

  expect(one.heard.buffer.memory).not.toBe(other.heard.buffer.memory);
});
