import { expect, test } from 'vitest';
import {
  decodeG711,
  encodeG711,
  type G711Law,
  SILENCE_BYTE,
  transcodeG711Into,
} from '../../src/media/dsp/g711.ts';

const LAWS: readonly G711Law[] = ['PCMU', 'PCMA'];

test.each<[G711Law, number, number]>([
  ['PCMU', 0x00, -32_124],
  ['PCMU', 0x80, 32_124],
  ['PCMU', 0xff, 0],
  ['PCMU', 0xef, 132],
  ['PCMU', 0x6f, -132],
  ['PCMA', 0x2a, -32_256],
  ['PCMA', 0xaa, 32_256],
  ['PCMA', 0xd5, 8],
  ['PCMA', 0x55, -8],
  ['PCMA', 0xc5, 264],
])('decodeG711 %s turns byte %i into the sample of the ITU table', (law, byte, sample) => {
  expect(decodeG711(law, Uint8Array.of(byte))).toEqual(Int16Array.of(sample));
});

/** Half the width of the interval that a byte stands for. @see ITU-T G.711 tables 1a and 2a */
const HALF_STEP: Readonly<Record<G711Law, (byte: number) => number>> = {
  PCMU: (byte) => 4 << ((~byte & 0x70) >> 4),
  PCMA: (byte) => 8 << Math.max(0, (((byte ^ 0x55) & 0x70) >> 4) - 1),
};

test.each(LAWS)('encodeG711 %s puts every sample into the interval that holds it', (law) => {
  // Beyond this mu-law clips.
  const samples = Int16Array.from({ length: 64_249 }, (_, index) => index - 32_124);

  const bytes = encodeG711(law, samples);

  const decoded = decodeG711(law, bytes);
  const outside = samples.filter(
    (sample, index) => Math.abs(sample - (decoded[index] ?? 0)) > HALF_STEP[law](bytes[index] ?? 0),
  );
  expect(outside).toEqual(new Int16Array(0));
});

test.each(LAWS)('encodeG711 %s clips what is louder than its loudest step', (law) => {
  const samples = Int16Array.of(-32_768, 32_767);

  const decoded = decodeG711(law, encodeG711(law, samples));

  const loudest = law === 'PCMU' ? 32_124 : 32_256;
  expect(decoded).toEqual(Int16Array.of(-loudest, loudest));
});

test.each(LAWS)('encodeG711 %s gives back what decodeG711 read', (law) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const samples = decodeG711(law, bytes);

  const again = decodeG711(law, encodeG711(law, samples));

  expect(again).toEqual(samples);
});

test.each(LAWS)('encodeG711 %s turns silence into the silent byte', (law) => {
  expect(encodeG711(law, Int16Array.of(0))).toEqual(Uint8Array.of(SILENCE_BYTE[law]));
});

test.each<[G711Law, G711Law]>([
  ['PCMU', 'PCMA'],
  ['PCMA', 'PCMU'],
  ['PCMU', 'PCMU'],
])('transcodeG711Into turns %s into %s as decoding and encoding would', (from, to) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const target = new Uint8Array(258);

  transcodeG711Into({ from, to }, bytes, target, 2);

  const expected = from === to ? bytes : encodeG711(to, decodeG711(from, bytes));
  expect(target.subarray(2)).toEqual(expected);
});
