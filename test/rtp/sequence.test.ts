import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RtpPacket } from '../../src/rtp/packet.ts';
import { ReorderBuffer } from '../../src/rtp/reorder-buffer.ts';

function packet(sequence: number, ssrc = 1): RtpPacket {
  const payload = new Uint8Array(160);
  return {
    payloadType: 0,
    hasMarker: false,
    sequence: sequence & 0xffff,
    timestamp: sequence * 160,
    ssrc,
    payload,
  };
}

function pass(order: ReorderBuffer, sequences: readonly number[]): number[] {
  return sequences.flatMap((sequence, index) =>
    order.accept(packet(sequence), index * 20).map((ordered) => ordered.packet.sequence),
  );
}

test.each([
  ['in order', [5, 6, 7], [5, 6, 7]],
  ['two swapped', [5, 7, 6, 8], [5, 6, 7, 8]],
  ['three turned round', [5, 8, 7, 6, 9], [5, 6, 7, 8, 9]],
  ['one repeated', [5, 6, 6, 7], [5, 6, 7]],
  ['one lost', [5, 7, 8, 9, 10], [5, 7, 8, 9, 10]],
  ['one that comes after it was given up', [5, 7, 8, 9, 6, 10], [5, 7, 8, 9, 10]],
  ['over the end of 16 bits', [65_534, 65_535, 0, 1], [65_534, 65_535, 0, 1]],
  ['swapped over the end of 16 bits', [65_534, 0, 65_535, 1], [65_534, 65_535, 0, 1]],
])('ReorderBuffer puts packets in place: %s', (_name, arriving, expected) => {
  const order = new ReorderBuffer();

  const passed = pass(order, arriving);

  expect(passed).toEqual(expected);
});

test('ReorderBuffer passes packets at once while none is missing', () => {
  const order = new ReorderBuffer();

  const counts = [5, 6, 7].map((sequence) => order.accept(packet(sequence), 0).length);

  expect(counts).toEqual([1, 1, 1]);
});

test('ReorderBuffer gives a missing packet up after 60 ms when no further ones come', () => {
  const order = new ReorderBuffer();
  pass(order, [5]);
  order.accept(packet(7), 100);

  const [early, late] = [order.expire(159), order.expire(160)];

  expect(early).toEqual([]);
  expect(late.map((ordered) => ordered.packet.sequence)).toEqual([7]);
});

test('ReorderBuffer takes another SSRC as a new stream at once', () => {
  const order = new ReorderBuffer();
  pass(order, [5, 6]);

  const [first, second] = [
    order.accept(packet(60_000, 2), 40),
    order.accept(packet(60_001, 2), 60),
  ];

  expect(first).toEqual([{ packet: packet(60_000, 2), isRestart: true }]);
  expect(second).toEqual([{ packet: packet(60_001, 2), isRestart: false }]);
});

test.each([
  ['forward', 30_000, 36_000],
  ['back', 30_000, 100],
])('ReorderBuffer goes on at once when the count of the same SSRC jumps %s', (_name, from, to) => {
  const order = new ReorderBuffer();
  pass(order, [from]);

  const passed = Array.from({ length: 500 }, (_, index) => to + index).flatMap((sequence) =>
    order.accept(packet(sequence), 0),
  );

  expect(passed).toHaveLength(500);
  expect(passed.filter(({ isRestart }) => isRestart)).toHaveLength(1);
});

test('ReorderBuffer passes what it held before a new stream', () => {
  const order = new ReorderBuffer();
  pass(order, [5, 7]);

  const passed = order.accept(packet(100, 2), 40);

  expect(passed.map(({ packet: { sequence } }) => sequence)).toEqual([7, 100]);
});

test('ReorderBuffer never passes a packet twice nor out of order, whatever the network does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 65_500, max: 65_560 }), { maxLength: 60 }),
      (arriving) => {
        const order = new ReorderBuffer();
        const passed = arriving
          .flatMap((sequence, index) => order.accept(packet(sequence), index * 20))
          .filter(({ isRestart }) => !isRestart)
          .map((ordered) => ordered.packet.timestamp);

        return passed.every(
          (timestamp, index) => index === 0 || timestamp > (passed[index - 1] ?? 0),
        );
      },
    ),
  );
});

test.each([
  ['none', [5, 6, 8, 7], 0, 0],
  ['one that comes after it was given up', [5, 7, 8, 9, 6, 10], 1, 0],
  ['one that comes twice after it was given up', [5, 7, 8, 9, 6, 6], 1, 1],
  ['one that comes twice', [5, 6, 6], 0, 1],
  ['one that comes twice while it waits', [5, 7, 7], 0, 1],
  ['all, twice', [5, 5, 6, 6, 7, 7], 0, 3],
  ['some, across a sequence number reset', [65_534, 1, 2, 3, 65_535, 0, 1], 2, 1],
])('ReorderBuffer counts the packets that it drops: %s', (_name, arriving, late, twice) => {
  const order = new ReorderBuffer();

  pass(order, arriving);

  expect([order.late, order.twice]).toEqual([late, twice]);
});

test('ReorderBuffer keeps what it holds back although the datagram is written over', () => {
  const order = new ReorderBuffer();
  const datagram = Uint8Array.of(1, 2, 3);
  const packet = { payloadType: 0, hasMarker: false, ssrc: 1, timestamp: 0, payload: datagram };
  order.accept({ ...packet, sequence: 10, payload: Uint8Array.of(0) }, 0);
  order.accept({ ...packet, sequence: 12 }, 20);

  datagram.fill(9);
  const passed = order.accept({ ...packet, sequence: 11, payload: Uint8Array.of(0) }, 40);

  expect(passed.map((each) => [...each.packet.payload])).toEqual([[0], [1, 2, 3]]);
});
