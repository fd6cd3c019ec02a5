/** G.711: the telephone network's two voice codecs, by table; pure */

/** PCMU is mu-law (North America, Japan), PCMA is A-law (elsewhere). */
export type G711Law = 'PCMU' | 'PCMA';

/** The byte that stands for silence. */
export const SILENCE_BYTE: Readonly<Record<G711Law, number>> = { PCMU: 0xff, PCMA: 0xd5 };

/** Bit that holds the sign. */
const SIGN_BIT = 0x80;

const MU_BIAS = 0x84;
const MU_CLIP = 32_635;

const DECODE: Readonly<Record<G711Law, Int16Array>> = {
  PCMU: Int16Array.from({ length: 256 }, (_, byte) => decodeMuLaw(byte)),
  PCMA: Int16Array.from({ length: 256 }, (_, byte) => decodeALaw(byte)),
};

/** Steps of 4 from the lowest sample to 0: neither law looks at the last two bits of a magnitude. */
const STEPS = 8192;

/**
 * Index: a sample in steps of 4, the lowest first. A table of 16 kB stays in the L1 cache, where one of 64 kB for
 * all samples does not; one table for both signs needs no branch that could be mispredicted.
 */
const ENCODE: Readonly<Record<G711Law, Uint8Array>> = {
  PCMU: Uint8Array.from({ length: 2 * STEPS }, (_, index) =>
    index < STEPS
      ? encodeMuLaw((STEPS - index) << 2) ^ SIGN_BIT
      : encodeMuLaw((index - STEPS) << 2),
  ),
  PCMA: Uint8Array.from({ length: 2 * STEPS }, (_, index) =>
    index < STEPS
      ? encodeALaw((STEPS - 1 - index) << 2) ^ SIGN_BIT
      : encodeALaw((index - STEPS) << 2),
  ),
};

/** Turns the bytes from `from` on into signed 16-bit samples, one each, until `target` is full. */
export function decodeG711Into(
  law: G711Law,
  bytes: Uint8Array,
  target: Int16Array,
  from = 0,
): void {
  const table = DECODE[law];
  for (let index = 0; index < target.length; index += 1) {
    target[index] = table[bytes[from + index] ?? 0] ?? 0;
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
  // A-law takes -1 to be as far from its middle as 0 is; mu-law takes it for 1, so that its negative steps end in it.
  const shift = law === 'PCMA' ? 0 : 3;
  for (let index = 0; index < pcm.length; index += 1) {
    const sample = pcm[index] ?? 0;
    // The sign, as 0 or -1.
    const sign = sample >> 31;
    target[offset + index] = table[((sample + (sign & shift)) >> 2) + STEPS] ?? 0;
  }
}

/** Turns bytes of one law into bytes of another, written to `target` from `offset` on. */
export function transcodeG711Into(
  laws: { readonly from: G711Law; readonly to: G711Law },
  bytes: Uint8Array,
  target: Uint8Array,
  offset: number,
): void {
  const table = laws.from === laws.to ? undefined : TRANSCODE[laws.from];
  if (table === undefined) target.set(bytes, offset);
  else {
    for (let index = 0; index < bytes.length; index += 1) {
      target[offset + index] = table[bytes[index] ?? 0] ?? 0;
    }
  }
}

/** Turns signed 16-bit samples into bytes, one each. */
export function encodeG711(law: G711Law, pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.length);
  encodeG711Into(law, pcm, bytes, 0);
  return bytes;
}

/** Index: a byte of the one law; value: the byte of the other that sounds most like it. */
const TRANSCODE: Readonly<Record<G711Law, Uint8Array>> = {
  PCMU: encodeG711('PCMA', DECODE.PCMU),
  PCMA: encodeG711('PCMU', DECODE.PCMA),
};

/** @see ITU-T G.711 table 2a; all bits are sent inverted */
function decodeMuLaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + MU_BIAS) << ((bits & 0x70) >> 4);
  return (bits & 0x80) === 0 ? magnitude - MU_BIAS : MU_BIAS - magnitude;
}

function encodeMuLaw(magnitude: number): number {
  const biased = Math.min(magnitude, MU_CLIP) + MU_BIAS;
  const exponent = 24 - Math.clz32(biased);
  const mantissa = (biased >> (exponent + 3)) & 0x0f;
  return ~((exponent << 4) | mantissa) & 0xff;
}

/** @see ITU-T G.711 table 1a; the even bits are sent inverted */
function decodeALaw(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

function encodeALaw(magnitude: number): number {
  const steps = magnitude >> 3;
  const exponent = Math.max(0, 27 - Math.clz32(steps));
  const mantissa = steps >> Math.max(1, exponent);
  return (SIGN_BIT | (exponent << 4) | (mantissa & 0x0f)) ^ 0x55;
}
