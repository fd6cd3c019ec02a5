import { expect, test } from 'vitest';
import { HeardPackets, packetReport } from '../../bench/lib/heard-packets.ts';

function packet(sequence: number, hasMarker = false): Buffer {
  const bytes = Buffer.alloc(172);
  bytes[0] = 0x80;
  bytes[1] = hasMarker ? 0x80 : 0;
  bytes.writeUInt16BE(sequence % 65_536, 2);
  return bytes;
}

test('HeardPackets measures lateness within a talk spurt and the silence after it', () => {
  const call = new HeardPackets(() => true);

  call.hear(packet(1, true), 100, false);
  call.hear(packet(2), 123, false);
  call.hear(packet(3), 140, false);
  call.hear(packet(4, true), 151, true);
  call.hear(packet(5), 176, true);
  call.hear(packet(6), 209, false);
  call.hear(packet(7), 230, false);
  call.endSpurt();

  expect(call.latenessMs).toEqual([0, 3, 0, 0, 5, 0, 1]);
});

test('HeardPackets counts what is lost over the end of the numbers, and takes back what was only overtaken', () => {
  const call = new HeardPackets(() => true);

  for (const sequence of [65_534, 65_535, 65_538, 65_537, 65_541]) {
    call.hear(packet(sequence), 0, false);
  }

  expect(call.lost).toBe(3);
});

test('packetReport leaves out what was heard before the measured time, but not when the first voice was', () => {
  const call = new HeardPackets((atMs) => atMs >= 1000);

  call.hear(packet(1, true), 900, true);
  call.hear(packet(9), 1060, true);
  const { packets, lost, voices } = packetReport([call]);

  expect({ packets, lost }).toEqual({ packets: 1, lost: 0 });
  expect(voices[0]).toBeGreaterThan(0);
});
