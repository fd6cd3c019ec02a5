/** G.711: the telephone network's two voice codecs, by table; pure */

/** PCMU is mu-law (North America, Japan), PCMA is A-law (elsewhere). */
export type G711Law = 'PCMU' | 'PCMA';

/** The byte that stands for silence. */
export const SILENCE_BYTE: Readonly<Record<G711Law, number>> = { PCMU: 0xff, PCMA: 0xd5 };

const MU_BIAS = 0x84;
const MU_CLIP = 32_635;

const DECODE: Readonly<Record<G711Law, Int16Array>> = {
  PCMU: Int16Array.from({ length: 256 }, (_, byte) => decodeMuLaw(byte)),
  PCMA: Int16Array.from({ length: 256 }, (_, byte) => decodeALaw(byte)),
};

/** Index: the sample as unsigned 16 bits. */
const ENCODE: Readonly<Record<G711Law, Uint8Array>> = {
  PCMU: Uint8Array.from({ length: 65_536 }, (_, index) => encodeMuLaw((index << 16) >> 16)),
  PCMA: Uint8Array.from({ length: 65_536 }, (_, index) => encodeALaw((index << 16) >> 16)),
};

/** Turns bytes into signed 16-bit samples, one each, written to the beginning of `target`. */
export function decodeG711Into(law: G711Law, bytes: Uint8Array, target: Int16Array): void {
  const table = DECODE[law];
  for (let index = 0; index < bytes.length; index += 1) {
    target[index] = table[bytes[index] ?? 0] ?? 0;
  }
}

/** Turns bytes into signed 16-bit samples, one each. */
export function decodeG711(law: G711Law, bytes: Uint8Array): Int16Array {
  const pcm = new Int16Array(bytes.length);
  decodeG711Into(law, bytes, pcm);
  return pcm;
}

/** Turns samples into bytes, written to `target` from `offset` on. */
export function encodeG711Into(
  law: G711Law,
  pcm: Int16Array,
  target: Uint8Array,
  offset: number,
): void {
  const table = ENCODE[law];
  for (let index = 0; index < pcm.length; index += 1) {
    target[offset + index] = table[(pcm[index] ?? 0) & 0xffff] ?? 0;
  }
}

/** Turns signed 16-bit samples into bytes, one each. */
export function encodeG711(law: G711Law, pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.length);
  encodeG711Into(law, pcm, bytes, 0);
  return bytes;
}

/** @see ITU-T G.711 table 2a; all bits are sent inverted */
function decodeMuLaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + MU_BIAS) << ((bits & 0x70) >> 4);
  return (bits & 0x80) === 0 ? magnitude - MU_BIAS : MU_BIAS - magnitude;
}

function encodeMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), MU_CLIP) + MU_BIAS;
  const exponent = 24 - Math.clz32(magnitude);
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

/** @see ITU-T G.711 table 1a; the even bits are sent inverted */
function decodeALaw(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

function encodeALaw(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80;
  // A-law has 13 bits: -1 and 0 fall into the two smallest steps, one on either side.
  const magnitude = Math.min(sample < 0 ? ~sample : sample, 32_767) >> 3;
  const exponent = Math.max(0, 27 - Math.clz32(magnitude));
  const mantissa = exponent === 0 ? magnitude >> 1 : magnitude >> exponent;
  return (sign | (exponent << 4) | (mantissa & 0x0f)) ^ 0x55;
}
