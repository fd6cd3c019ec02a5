/** How loud lines are, and who may listen to them, where the media engine's own line is not what the call holds. */
import { expect, test } from 'vitest';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import { LinkedAudio } from '../../src/telephony/media-gateway.ts';
import { SandboxLine } from '../../src/telephony/sandbox/sandbox-leg.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SilentSession } from './silent-lines.ts';

/** A tenth of full scale: -20 dBFS. */
const sound = (lengthMs: number) => new Int16Array(lengthMs * 8).fill(3277);

test('SandboxLine measures both sides while there is a reader', () => {
  const clock = new FakeClock(1000);
  const line = new SandboxLine({
    script: { ringingMs: 0, refusedWith: null, steps: [{ kind: 'say', text: 'Hello' }] },
    pcmOf: () => sound(1000),
    partyNumber: '+12025550199',
    farEnd: { hangUp: () => undefined, breakOff: () => undefined },
  });
  line.open(clock);
  line.begin(1);
  line.say(1, new Int16Array(800).fill(32_767));
  line.finish(1);

  clock.advance(60);
  const before = line.meter.take();
  line.meter.start();
  clock.advance(120);

  expect(before).toEqual({ caller: -90, agent: -90 });
  expect(line.meter.take()).toEqual({ caller: -20, agent: 0 });
});

test('LinkedAudio shows the levels and the sound of the line that it stands for', () => {
  const meter = new LevelMeter();
  const session = new SilentSession();
  const tap = { open: () => session.heard, close: () => undefined };

  const audio = new LinkedAudio(Object.assign(session, { meter, tap }));

  expect([audio.meter, audio.tap]).toEqual([meter, tap]);
});
