import { expect, test } from 'vitest';
import { PacketReplays } from '../../src/telephony/webrtc/werift-call.ts';

function accepted(sequences: readonly number[], ssrc = 1): readonly number[] {
  const replays = new PacketReplays();
  return sequences.filter((sequence) => replays.accept(ssrc, sequence));
}

test('PacketReplays lets packets through in whatever order, each once', () => {
  expect(accepted([10, 12, 11, 12, 11, 10, 13])).toEqual([10, 12, 11, 13]);
});

test('PacketReplays counts what is older than 64 packets as seen', () => {
  expect(accepted([100, 200, 136, 137, 137])).toEqual([100, 200, 137]);
});

test('PacketReplays goes on over the end of the numbers', () => {
  expect(accepted([65_534, 65_535, 0, 65_535, 1, 0])).toEqual([65_534, 65_535, 0, 1]);
});

test('PacketReplays takes a late packet from before the first one, each once', () => {
  expect(accepted([1, 65_535, 0, 2, 1, 65_535])).toEqual([1, 65_535, 0, 2]);
});

test('PacketReplays follows a jump ahead, and resets for another stream', () => {
  const replays = new PacketReplays();

  const answers = [
    replays.accept(1, 5),
    replays.accept(1, 20_000),
    replays.accept(1, 5),
    replays.accept(2, 5),
    replays.accept(2, 5),
  ];

  expect(answers).toEqual([true, true, false, true, false]);
});
