/** A recording begins when it was asked for, however late the media worker takes the order. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import type { MediaWorkerHandle, ToWorker } from '../../src/media/engine/media-worker-handle.ts';
import { RtpSessionHandle } from '../../src/media/engine/rtp-session-handle.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { readStereo } from '../support/speech/recording.ts';
import { testFolder } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { TestSession } from './test-session.ts';

test('RtpSessionHandle says when the recording was asked for', () => {
  const told: ToWorker[] = [];
  const tell = (message: ToWorker) => told.push(message);
  const session = new RtpSessionHandle({
    ...{ clock: new FakeClock(5000), sessionId: 3, localPort: 16_000, localAddress: '127.0.0.1' },
    ...{ heard: new ReceiveRing(), meter: new LevelMeter() },
    worker: { tell } as unknown as MediaWorkerHandle,
  });

  session.record('/data/call_1.wav');

  expect(told).toEqual([{ kind: 'record', sessionId: 3, path: '/data/call_1.wav', atMs: 5000 }]);
});

test('RtpSession begins a recording in the past with silence, and puts sound in its place', async () => {
  const file = join(testFolder(), 'a.wav');
  const session = new TestSession();
  session.setRemote();

  session.session.record(file, session.nowMs - 1000);
  session.clock.advance(20);
  session.speakFor(400);
  await session.session.close(session.nowMs);

  const left = readStereo(file)?.left ?? new Int16Array();
  const firstLoud = left.findIndex((sample) => Math.abs(sample) > 1000);
  expect(firstLoud / 8).toBeGreaterThanOrEqual(1000);
  expect(firstLoud / 8).toBeLessThanOrEqual(1021);
});
