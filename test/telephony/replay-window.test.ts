import { expect, test } from 'vitest';
import { ReplayWindow } from '../../src/telephony/webrtc/werift-call.ts';

function accepted(sequences: readonly number[], ssrc = 1): readonly number[] {
  const window = new ReplayWindow();
  return sequences.filter((sequence) => window.accept(ssrc, sequence));
}

test('ReplayWindow lets packets through in whatever order, each once', () => {
  expect(accepted([10, 12, 11, 12, 11, 10, 13])).toEqual([10, 12, 11, 13]);
});

test('ReplayWindow counts what is older than 64 packets as seen', () => {
  expect(accepted([100, 200, 136, 137, 137])).toEqual([100, 200, 137]);
});

test('ReplayWindow goes on over the end of the numbers', () => {
  expect(accepted([65_534, 65_535, 0, 65_535, 1, 0])).toEqual([65_534, 65_535, 0, 1]);
});

test('ReplayWindow follows a jump ahead, and resets for another stream', () => {
  const window = new ReplayWindow();

  const answers = [
    window.accept(1, 5),
    window.accept(1, 20_000),
    window.accept(1, 5),
    window.accept(2, 5),
    window.accept(2, 5),
  ];

  expect(answers).toEqual([true, true, false, true, false]);
});
