import { expect, test } from 'vitest';
import { reply, SILENCE, TestLine, VOICE } from './test-line.ts';

function listening(): TestLine {
  const line = new TestLine();
  line.setRemote();
  return line;
}

test('RtpSession pauses an interruptible reply at the third voiced packet', () => {
  const line = listening();
  line.line.setInterruptible(true);
  line.line.begin(1);
  line.line.say(1, reply(100), line.nowMs);
  line.speakFor(200, SILENCE);
  const onsetAtMs = line.nowMs;

  line.speakFor(60);
  const stoppedBy = line.sent.at(-1)?.atMs ?? 0;
  line.clock.advance(100);
  const after = line.sent.filter(({ atMs }) => atMs > stoppedBy);

  expect(line.kinds().slice(0, 3)).toEqual(['playout-started', 'voice-started', 'playout-paused']);
  expect(stoppedBy - onsetAtMs).toBeLessThanOrEqual(60);
  expect(after.every(({ payload }) => payload[0] === 0xff)).toBe(true);
});

test('RtpSession plays the rest after resume and forgets it after drop', () => {
  const outcomes = (['resume', 'drop'] as const).map((wish) => {
    const line = listening();
    line.line.setInterruptible(true);
    line.line.begin(1);
    line.line.say(1, reply(20), line.nowMs);
    line.line.finish(1, line.nowMs);
    line.speakFor(100, VOICE);
    line.line[wish](1, line.nowMs);
    line.speakFor(600, SILENCE);
    return line.events.find(({ kind }) => kind === 'playout-finished');
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
  const line = listening();
  line.line.setInterruptible(isInterruptible);
  line.line.begin(1);
  line.line.say(1, reply(100), line.nowMs);
  line.speakFor(200, SILENCE);

  line.speak(VOICE);
  line.speakFor(200, rest);

  expect(line.kinds()).not.toContain('playout-paused');
});
