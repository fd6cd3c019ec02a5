import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { LevelMeter, levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { TestPhone } from './test-phone.ts';
import { SILENCE, TestSession, tone, VOICE } from './test-session.ts';

const QUIET = { caller: -90, agent: -90 };
/** As loud as `VOICE`, and nothing like the agent's tone: the same tone would be its echo. */
const OTHER_VOICE = VOICE.map((sample, index) => (index % 5 < 2 ? sample : -sample));

const VOICE_DBFS = Math.round(levelDbfs(VOICE));

test('LevelMeter keeps the loudest level of each side, and resets when it is taken', () => {
  const meter = new LevelMeter();
  const far = new LevelMeter(meter.buffer);

  far.note('caller', -30.4);
  far.note('caller', -12.6);
  far.note('caller', -50);
  far.note('agent', 0);

  expect(meter.take()).toEqual({ caller: -13, agent: 0 });
  expect(meter.take()).toEqual(QUIET);
});

test.each([
  ['under the scale', -100, -90],
  ['over the scale', 3, 0],
  ['between two steps', -40.5, -40],
])('LevelMeter gives whole dB within the scale for a level %s', (_case, noted, taken) => {
  const meter = new LevelMeter();

  meter.note('agent', noted);

  expect(meter.take().agent).toBe(taken);
});

test('LevelMeter forgets the levels before the first reader', () => {
  const meter = new LevelMeter();
  meter.note('caller', -10);

  meter.start();

  expect(meter.take()).toEqual(QUIET);
});

test('LevelMeter is on and off however often it is told', () => {
  const meter = new LevelMeter();
  const far = new LevelMeter(meter.buffer);
  const states = [far.isOn];

  meter.start();
  meter.start();
  states.push(far.isOn);
  meter.stop();
  meter.stop();
  states.push(far.isOn);

  expect(states).toEqual([false, true, false]);
});

test('RtpSession measures both sides while there is a reader', () => {
  const session = new TestSession();
  session.setRemote();
  session.meter.start();

  session.session.begin(1);
  session.session.say(1, tone(2000), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.speakFor(60);
  const both = session.meter.take();
  session.speakFor(60, SILENCE);

  expect(both).toEqual({ caller: VOICE_DBFS, agent: Math.round(levelDbfs(tone(2000))) });
  expect(session.meter.take()).toEqual(QUIET);
});

test('RtpSession measures no levels without a reader', () => {
  const session = new TestSession();
  session.setRemote();
  session.meter.start();
  session.meter.stop();

  session.session.begin(1);
  session.session.say(1, tone(2000), session.nowMs);
  session.session.finish(1, session.nowMs);
  session.speakFor(100);

  expect(session.meter.take()).toEqual(QUIET);
});

test('MediaEngine shows the levels of a session across threads', async () => {
  const engine = new MediaEngine({
    ...{ clock: systemClock, log: silentLogger, ports: { first: 16_300, last: 16_309 } },
    ...{ workers: 1, drainMs: 0, isRealTime: false },
  });
  await engine.start();
  const phone = await TestPhone.open();
  const session = await engine.open({ signallingAddress: '127.0.0.1' });
  session.setRemote(phone.agreed);
  session.meter?.start();

  session.begin(1);
  session.say(1, tone(16_000));
  session.finish(1);
  await phone.untilReceived(1);
  phone.send(OTHER_VOICE, session.localPort);
  await expect.poll(() => session.heard.read(0).some((sample) => sample !== 0)).toBe(true);
  await phone.untilReceived(3);
  const levels = session.meter?.take();
  phone.close();
  await engine.stop();

  expect(levels).toEqual({ caller: VOICE_DBFS, agent: Math.round(levelDbfs(tone(16_000))) });
});
