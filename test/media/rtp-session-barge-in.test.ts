import { expect, test } from 'vitest';
import { reply, SILENCE, TestSession, VOICE } from './test-session.ts';

function listening(): TestSession {
  const session = new TestSession();
  session.setRemote();
  return session;
}

test('RtpSession pauses an interruptible reply at the third voiced packet', () => {
  const session = listening();
  session.session.setPauseAfter(60);
  session.session.begin(1);
  session.session.say(1, reply(100), session.nowMs);
  session.speakFor(200, SILENCE);
  const onsetAtMs = session.nowMs;

  session.speakFor(60);
  const stoppedBy = session.sent.at(-1)?.atMs ?? 0;
  session.clock.advance(100);
  const after = session.sent.filter(({ atMs }) => atMs > stoppedBy);

  expect(session.kinds().slice(0, 3)).toEqual([
    'playout-started',
    'voice-started',
    'playout-paused',
  ]);
  expect(stoppedBy - onsetAtMs).toBeLessThanOrEqual(60);
  expect(after.every(({ payload }) => payload[0] === 0xff)).toBe(true);
});

test('RtpSession plays the rest after resume and forgets it after drop', () => {
  const outcomes = (['resume', 'drop'] as const).map((wish) => {
    const session = listening();
    session.session.setPauseAfter(60);
    session.session.begin(1);
    session.session.say(1, reply(20), session.nowMs);
    session.session.finish(1, session.nowMs);
    session.speakFor(100, VOICE);
    session.session[wish](1, session.nowMs);
    session.speakFor(600, SILENCE);
    return session.events.find(({ kind }) => kind === 'playout-finished');
  });

  expect(outcomes).toEqual([
    { kind: 'playout-finished', generation: 1, playedMs: 400, isComplete: true },
    {
      kind: 'playout-finished',
      generation: 1,
      playedMs: expect.toSatisfy((ms) => ms <= 80),
      isComplete: false,
    },
  ]);
});

test.each([
  ['a reply that is not interruptible', false, VOICE],
  ['a click of one packet', true, SILENCE],
])('RtpSession does not pause: %s', (_name, isInterruptible, rest) => {
  const session = listening();
  session.session.setPauseAfter(isInterruptible ? 60 : null);
  session.session.begin(1);
  session.session.say(1, reply(100), session.nowMs);
  session.speakFor(200, SILENCE);

  session.speak(VOICE);
  session.speakFor(200, rest);

  expect(session.kinds()).not.toContain('playout-paused');
});

test('RtpSession waits for as long a voice as it is told, and pauses once a voice', () => {
  const session = listening();
  session.session.setPauseAfter(160);
  session.session.begin(1);
  session.session.say(1, reply(100), session.nowMs);
  session.speakFor(200, SILENCE);

  session.speakFor(140);
  const before = session.kinds().includes('playout-paused');
  session.speakFor(20);
  const after = session.kinds().includes('playout-paused');
  session.session.resume(1, session.nowMs);
  session.speakFor(400);

  expect([before, after]).toEqual([false, true]);
  expect(session.kinds().filter((kind) => kind === 'playout-paused')).toHaveLength(1);
});
