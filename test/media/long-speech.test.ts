import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { SPEECH_RING_SAMPLES } from '../../src/media/sound-rings.ts';
import { TestPhone } from './test-phone.ts';

test('MediaEngine carries more speech at once than the memory between the threads holds', async () => {
  const phone = await TestPhone.open();
  const engine = new MediaEngine({
    ...{ clock: systemClock, log: silentLogger, ports: { first: 16_960, last: 16_969 } },
    ...{ workers: 1, drainMs: 0, isRealTime: false },
  });
  onTestFinished(async () => {
    await Promise.all([engine.stop(), phone.close()]);
  });
  await engine.start();
  const session = await engine.open({ signallingAddress: '127.0.0.1' });
  session.setRemote(phone.agreed);
  session.begin(1);

  session.say(1, new Int16Array(SPEECH_RING_SAMPLES + 1).fill(1000));
  session.say(1, new Int16Array(160).fill(2000));
  await phone.untilReceived(3);

  expect(phone.received.at(-1)?.payload).toEqual(Buffer.alloc(160, 0xce));
});
