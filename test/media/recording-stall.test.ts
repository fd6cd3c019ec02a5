/** A recording keeps its time where the media thread stood still: what was read or sent late has its own place. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readStereo } from '../support/speech/recording.ts';
import { testFolder } from '../support/store/test-store.ts';
import { reply, SILENCE, TestSession, VOICE } from './test-session.ts';

/** Where sound begins and ends, in milliseconds. */
function soundOf(side: Int16Array): readonly [number, number] {
  const isLoud = (sample: number) => Math.abs(sample) > 500;
  return [Math.round(side.findIndex(isLoud) / 8), Math.round(side.findLastIndex(isLoud) / 8)];
}

/** Longest silence in the middle of a side's sound, in milliseconds. */
function longestHoleMs(side: Int16Array): number {
  let [longest, run] = [0, 0];
  const [fromMs, toMs] = soundOf(side);
  for (const sample of side.subarray(fromMs * 8, toMs * 8)) {
    run = Math.abs(sample) < 100 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest / 8;
}

test.each([
  80, 140, 180,
])('a recording has no hole, and keeps its time, after a stall of %i ms', async (stallMs) => {
  const file = join(testFolder(), 'stall.wav');
  const session = new TestSession();
  session.setRemote();
  session.session.record(file, session.nowMs);
  session.speakFor(100, SILENCE);
  session.session.begin(1);
  session.session.say(1, reply(30), session.nowMs);

  session.speakFor(200);
  session.stallFor(stallMs);
  for (let packet = 0; packet < stallMs / 20; packet += 1) session.hear(VOICE);
  session.speakFor(200);
  session.speakFor(400, SILENCE);
  await session.session.close(session.nowMs);

  const { left = SILENCE, right = SILENCE } = readStereo(file) ?? {};
  const [fromMs, toMs] = soundOf(left);
  expect(longestHoleMs(left)).toBeLessThan(2);
  expect(longestHoleMs(right)).toBeLessThan(2);
  expect(Math.abs(toMs - fromMs - (400 + stallMs))).toBeLessThan(25);
  expect(Math.abs(soundOf(right)[1] - soundOf(right)[0] - 600)).toBeLessThan(25);
});
