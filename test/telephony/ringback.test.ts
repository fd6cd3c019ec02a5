import { expect, test } from 'vitest';
import { ringbackFor } from '../../src/telephony/ringback.ts';
import { shareOf } from './tones.ts';

/** One letter for each 200 ms: `#` sound, `.` silence. */
function lettersOf(pcm: Int16Array): string {
  return Array.from({ length: pcm.length / 1600 }, (_, index) =>
    pcm.subarray(index * 1600, (index + 1) * 1600).some((sample) => Math.abs(sample) > 1000)
      ? '#'
      : '.',
  ).join('');
}

test.each([
  ['+390687654321', [425], /^#{5}\.{20}$/],
  ['+4930123456', [425], /^#{5}\.{20}$/],
  ['+12025550123', [440, 480], /^#{10}\.{20}$/],
  ['+442079460000', [400, 450], /^#{2}\.#{2}\.{10}$/],
])('ringbackFor %s sounds as telephones ring there', (number, hz, rhythm) => {
  const pcm = ringbackFor(number);

  expect(lettersOf(pcm)).toMatch(rhythm);
  const first = pcm.subarray(0, 1600);
  for (const each of hz) expect(shareOf(first, each)).toBeGreaterThan(0.3);
});
