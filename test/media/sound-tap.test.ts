/** Audio that a listener gets: the audio as played, and only while listening. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { TestPhone } from './test-phone.ts';
import { reply, TestSession } from './test-session.ts';

/** The first sample of each 20 ms. */
const firstOfFrames = (ring: ReceiveRing) =>
  [...ring.read(0)].filter((_, index) => index % 160 === 0);

function talking(frames: number): TestSession {
  const session = new TestSession();
  session.setRemote();
  session.session.begin(1);
  session.session.say(1, reply(frames), session.nowMs);
  session.session.finish(1, session.nowMs);
  return session;
}

test('RtpSession copies what it plays, and its silence, while it is tapped', () => {
  const played = new ReceiveRing();
  const session = talking(6);

  session.clock.advance(39);
  session.session.tap(played);
  session.clock.advance(120);
  session.session.tap(undefined);
  session.clock.advance(100);

  expect(firstOfFrames(played)).toEqual([1002, 1003, 1004, 1005, 0, 0]);
  expect(played.endAtMs).toBeLessThanOrEqual(session.nowMs - 100);
});

test('RtpSession copies nothing of a reply that was dropped', () => {
  const played = new ReceiveRing();
  const session = talking(6);
  session.session.tap(played);

  session.clock.advance(39);
  session.session.drop(1);
  session.clock.advance(60);

  expect(firstOfFrames(played)).toEqual([1001, 0, 0, 0]);
});

test('RtpSession sends the same packets at the same times, whether it is tapped and measured or not', () => {
  const sent = [false, true].map((isWatched) => {
    const session = talking(20);
    if (isWatched) {
      session.session.tap(new ReceiveRing());
      session.meter.start();
    }
    session.speakFor(1000);
    return session.sent;
  });

  expect(sent[0]?.length).toBeGreaterThan(40);
  expect(sent[1]).toEqual(sent[0]);
});

test('MediaEngine copies what a session plays to another thread, until the tap is closed', async () => {
  const engine = new MediaEngine({
    ...{ clock: systemClock, log: silentLogger, ports: { first: 16_310, last: 16_319 } },
    ...{ workers: 1, drainMs: 0, isRealTime: false },
  });
  await engine.start();
  const phone = await TestPhone.open();
  const session = await engine.open({ signallingAddress: '127.0.0.1' });
  const played = session.tap?.open() ?? new ReceiveRing();
  const again = session.tap?.open();
  session.setRemote(phone.agreed);

  session.begin(1);
  session.say(1, reply(3));
  session.finish(1);
  await expect.poll(() => played.end).toBeGreaterThanOrEqual(5 * 160);
  session.tap?.close();
  session.tap?.close();
  await session.stats();
  const endWhenClosed = played.end;
  const packets = phone.received.length;
  await phone.untilReceived(packets + 3);
  phone.close();
  await engine.stop();

  expect(again).toBe(played);
  expect(firstOfFrames(played).filter((sample) => sample !== 0)).toEqual([1000, 1001, 1002]);
  expect(played.end).toBe(endWhenClosed);
});
