import { expect, test } from 'vitest';
import { StreamSplice } from '../../src/media/rtp-session/packetizer.ts';

const OURS = { sequence: 65_530, timestamp: 0xffff_ff00 };

function packet(sequence: number, timestamp: number, ssrc = 1) {
  const payload = new Uint8Array(160);
  return {
    payloadType: 0,
    hasMarker: false,
    sequence: sequence & 0xffff,
    timestamp,
    ssrc,
    payload,
  };
}

test('StreamSplice goes on where our stream stood, over both ends of the counts', () => {
  const splice = new StreamSplice();
  const placed = [];

  let ours = OURS;
  for (let at = 0; at < 10; at += 1) {
    const place = splice.place(packet(100 + at, 5_000 + at * 160), ours);
    placed.push(place);
    ours = { ...ours, sequence: (65_530 + at + 1) & 0xffff };
  }

  expect(placed.map((place) => place?.sequence)).toEqual([
    65_530, 65_531, 65_532, 65_533, 65_534, 65_535, 0, 1, 2, 3,
  ]);
  expect(placed.map((place) => place?.timestamp).slice(0, 3)).toEqual([
    0xffff_ff00, 0xffff_ffa0, 64,
  ]);
  expect(placed.map((place) => place?.isNew)).toEqual([true, ...Array(9).fill(false)]);
});

test.each([
  10, 65_534,
])('StreamSplice leaves gaps and late packets as they were, from number %i on', (start) => {
  const splice = new StreamSplice();
  const after = (packets: number) => (start + packets) & 0xffff;

  splice.place(packet(100, 0), { sequence: start, timestamp: 0 });
  const afterGap = splice.place(packet(103, 480), { sequence: after(1), timestamp: 160 });
  const late = splice.place(packet(101, 160), { sequence: after(4), timestamp: 640 });

  expect([afterGap, late]).toMatchObject([
    { sequence: after(3), timestamp: 480 },
    { sequence: after(1), timestamp: 160 },
  ]);
});

test('StreamSplice drops what is older than its beginning, since the numbers before it are ours', () => {
  const splice = new StreamSplice();

  splice.place(packet(100, 1_600), { sequence: 10, timestamp: 0 });
  const tooLate = splice.place(packet(99, 1_440), { sequence: 11, timestamp: 160 });

  expect(tooLate).toBeUndefined();
});

test.each([
  ['after a cut', packet(105, 800), true],
  ['from another source', packet(105, 800, 2), false],
  ['after a jump', packet(9_000, 800), false],
])('StreamSplice splices again %s', (_, next, isCut) => {
  const splice = new StreamSplice();
  splice.place(packet(100, 0), { sequence: 10, timestamp: 0 });

  if (isCut) splice.cut();
  const place = splice.place(next, { sequence: 50, timestamp: 7_000 });

  expect(place).toEqual({ isNew: true, sequence: 50, timestamp: 7_000 });
});

test('StreamSplice finds the place of a late packet in the tenth hour too', () => {
  const splice = new StreamSplice();
  let sequence = 10;
  for (let at = 0; at < 70_000; at += 1) {
    const place = splice.place(packet(100 + at, at * 160), { sequence, timestamp: 0 });
    sequence = ((place?.sequence ?? 0) + 1) & 0xffff;
  }

  const late = splice.place(packet(100 + 69_998, 1), { sequence, timestamp: 0 });

  expect(late?.sequence).toBe((sequence - 2) & 0xffff);
});
