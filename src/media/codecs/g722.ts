/** G.722 at 64 kbit/s for a line of 8 kHz: its lower sub-band is the telephone's, the higher one is sent as silence; pure */

/** Code of silence in the higher sub-band: the upper 2 of a byte's 8 bits. */
const SILENT_HIGHER_BAND = 0xc0;

/** The lower 6 bits of a byte are the lower sub-band's. */
const LOWER_BAND = 0x3f;

/**
 * Encodes one stream of 8 kHz, one byte per sample; at 16 kHz, G.722 has one byte for two samples.
 *
 * @see ITU-T G.722 (09/2012), mode 1
 */
export class G722Encoder {
  readonly #band = new G722SubBand();

  /** Turns samples into bytes, one each, written to `target` from `offset` on. */
  encodeInto(pcm: Int16Array, target: Uint8Array, offset: number): void {
    for (let index = 0; index < pcm.length; index += 1) {
      // A sub-band has 15 bits.
      const code = this.#band.encode((pcm[index] as number) >> 1);
      target[offset + index] = SILENT_HIGHER_BAND | code;
    }
  }
}

/** Decodes one stream to 8 kHz; leaves out the sub-band above 4 kHz. */
export class G722Decoder {
  readonly #band = new G722SubBand();

  /** @returns one sample per byte, in a new array. */
  decode(payload: Uint8Array): Int16Array {
    const pcm = new Int16Array(payload.length);
    for (let index = 0; index < pcm.length; index += 1) {
      pcm[index] = this.#band.decode((payload[index] as number) & LOWER_BAND) << 1;
    }
    return pcm;
  }
}

/** Scale factor of the quantiser for the fractional part of its logarithm, in steps of 1/32. Table 9. */
const INVERSE_LOG = Int32Array.of(
  ...[2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774],
  ...[2834, 2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838],
  ...[3922, 4008],
);

/** Levels of the inverse quantiser of 4 bits, which both ends adapt by. Table 15. */
const LEVELS_OF_4_BITS = Int32Array.of(
  ...[0, -20_456, -12_896, -8968, -6288, -4240, -2584, -1200],
  ...[20_456, 12_896, 8968, 6288, 4240, 2584, 1200, 0],
);

/** Output levels of the inverse quantiser of 6 bits. Table 16. */
const LEVELS_OF_6_BITS = Int32Array.of(
  ...[-136, -136, -136, -136, -24_808, -21_904, -19_008, -16_704],
  ...[-14_984, -13_512, -12_280, -11_192, -10_232, -9360, -8576, -7856],
  ...[-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576],
  ...[-3168, -2776, -2400, -2032, -1688, -1360, -1040, -728],
  ...[24_808, 21_904, 19_008, 16_704, 14_984, 13_512, 12_280, 11_192],
  ...[10_232, 9360, 8576, 7856, 7192, 6576, 6000, 5456],
  ...[4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032],
  ...[1688, 1360, 1040, 728, 432, 136, -432, -136],
);

/** Decision levels of the quantiser. Table 13. */
const DECISIONS = Int32Array.of(
  ...[0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650],
  ...[714, 786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919],
);

/** Number of decision levels: the index of the highest interval. */
const INTERVALS = DECISIONS.length;

/** How the scale factor's logarithm changes with the upper 4 bits of a code. Tables 11 and 12. */
const LOG_STEPS = Int32Array.of(
  ...[-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60],
);
const LOG_MAX = 18_432;

/** Largest sample of a sub-band: 15 bits. */
const SAMPLE_MAX = 16_383;

const ZEROS = 6;

/** One direction of one stream. @see ITU-T G.722 (09/2012) section 3 */
class G722SubBand {
  /** Scale factor of the quantiser, and its logarithm to base 2 in steps of 1/2048. */
  #scale = 32;
  #logScale = 0;
  /** Prediction of the next sample, and the part of it that the zeros make. */
  #prediction = 0;
  #zerosPart = 0;
  /** The poles' coefficients, the newest two reconstructed samples, and the signs of the newest two partial ones. */
  #pole1 = 0;
  #pole2 = 0;
  #before1 = 0;
  #before2 = 0;
  #sign1 = 0;
  #sign2 = 0;
  readonly #zeros = new Int32Array(ZEROS);
  /** The newest six quantised differences, the newest first. */
  readonly #differences = new Int32Array(ZEROS);

  /** @param sample 15 bits. @returns its code, 6 bits. */
  encode(sample: number): number {
    const error = clip(sample - this.#prediction);
    const magnitude = error >= 0 ? error : -(error + 1);
    const interval = this.#intervalOf(magnitude);
    const code = codeOf(interval, error < 0);
    this.#adapt(code);
    return code;
  }

  /** @param code 6 bits. @returns the sample, 15 bits. */
  decode(code: number): number {
    const difference = (this.#scale * (LEVELS_OF_6_BITS[code] as number)) >> 15;
    const sample = this.#prediction + difference;
    this.#adapt(code);
    return Math.max(-SAMPLE_MAX - 1, Math.min(SAMPLE_MAX, sample));
  }

  /** The interval, from 1, between decision levels that a magnitude lies in: by bisection, since levels grow. */
  #intervalOf(magnitude: number): number {
    let low = 1;
    let high = INTERVALS;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (magnitude < ((DECISIONS[middle] as number) * this.#scale) >> 12) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #adapt(code: number): void {
    const index = code >> 2;
    const difference = (this.#scale * (LEVELS_OF_4_BITS[index] as number)) >> 15;
    this.#rescale(LOG_STEPS[index] as number);
    const partial = clip(this.#zerosPart + difference);
    const reconstructed = clip(this.#prediction + difference);
    this.#movePoles(partial >> 31);
    this.#moveZeros(difference);
    this.#predict(reconstructed);
  }

  /** Blocks LOGSCL and SCALEL. */
  #rescale(step: number): void {
    const log = ((this.#logScale * 127) >> 7) + step;
    this.#logScale = Math.max(0, Math.min(LOG_MAX, log));
    const factor = INVERSE_LOG[(this.#logScale >> 6) & 31] as number;
    const shift = 8 - (this.#logScale >> 11);
    this.#scale = (shift < 0 ? factor << -shift : factor >> shift) << 2;
  }

  /** Blocks UPPOL2 and UPPOL1. @param sign of the newest partial sample, 0 or -1. */
  #movePoles(sign: number): void {
    const isSame = sign === this.#sign1;
    const pole1 = clip(this.#pole1 << 2);
    const turned = Math.min(32_767, isSame ? -pole1 : pole1);
    const leaked = (this.#pole2 * 32_512) >> 15;
    const moved = (sign === this.#sign2 ? 128 : -128) + (turned >> 7) + leaked;
    this.#pole2 = Math.max(-12_288, Math.min(12_288, moved));
    const bound = 15_360 - this.#pole2;
    const next = clip((isSame ? 192 : -192) + ((this.#pole1 * 32_640) >> 15));
    this.#pole1 = Math.max(-bound, Math.min(bound, next));
    this.#sign2 = this.#sign1;
    this.#sign1 = sign;
  }

  /** Block UPZERO; shifts in the newest difference. */
  #moveZeros(difference: number): void {
    const [zeros, differences] = [this.#zeros, this.#differences];
    const step = difference === 0 ? 0 : 128;
    const sign = difference >> 31;
    for (let index = ZEROS - 1; index >= 0; index -= 1) {
      const earlier = differences[index] as number;
      const turned = earlier >> 31 === sign ? step : -step;
      zeros[index] = clip(turned + (((zeros[index] as number) * 32_640) >> 15));
      differences[index] = index === 0 ? difference : (differences[index - 1] as number);
    }
  }

  /** Blocks FILTEP, FILTEZ and PREDIC. */
  #predict(reconstructed: number): void {
    this.#before2 = this.#before1;
    this.#before1 = reconstructed;
    const poles =
      ((this.#pole1 * clip(2 * this.#before1)) >> 15) +
      ((this.#pole2 * clip(2 * this.#before2)) >> 15);
    let zeros = 0;
    for (let index = 0; index < ZEROS; index += 1) {
      const difference = this.#differences[index] as number;
      zeros += ((this.#zeros[index] as number) * clip(2 * difference)) >> 15;
    }
    this.#zerosPart = clip(zeros);
    this.#prediction = clip(clip(poles) + this.#zerosPart);
  }
}

/** Code of a quantiser interval. Table 14. */
function codeOf(interval: number, isNegative: boolean): number {
  if (isNegative) return interval <= 2 ? 64 - interval : 34 - interval;
  return 62 - interval;
}

function clip(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}
