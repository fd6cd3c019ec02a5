/** Turns the WAV stream that espeak-ng writes into line-rate PCM of even loudness; pure */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { LineResampler } from '../line-resampler.ts';

/** Level of speech, RMS over its voiced parts, that the voice book's gains aim at. */
export const LOUDNESS_DBFS = -18;

const HEADER_BYTES = 44;
const FULL_SCALE = 32_768;

/** Above this the wave is bent instead of cut off: -4 dBFS. */
const KNEE = 0.63 * FULL_SCALE;

/** What is quieter is silence: -50 dBFS. */
const SILENCE = 0.003 * FULL_SCALE;

/** Kept before the first sound, so that no consonant loses its beginning. */
const LEAD_SAMPLES = (8 * LINE_RATE_HZ) / 1000;

/**
 * Reads one utterance's WAV, in pieces of any size:
 *
 *     RIFF size WAVE fmt_ 16 format channels rate ... data size   44 bytes, rate at 24, little-endian
 *     samples                                                     signed 16-bit, mono
 *
 * The sizes are not used: the program does not know them when it writes the header.
 */
export class EspeakWave {
  readonly #gain: number;
  readonly #pauseSamples: number;
  #bytes: Buffer = Buffer.alloc(0);
  #resampler: LineResampler | undefined;
  #hasBegun = false;
  /** Silence that may turn out to be the end, or not. */
  #quiet: Int16Array = new Int16Array(0);

  constructor(options: { readonly gainDb: number; readonly pauseAfterMs: number }) {
    this.#gain = 10 ** (options.gainDb / 20);
    this.#pauseSamples = Math.round((options.pauseAfterMs * LINE_RATE_HZ) / 1000);
  }

  /** @throws {RangeError} when the stream is not a WAV of a usable rate. */
  push(bytes: Uint8Array): Int16Array {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    this.#resampler ??= this.#readHeader();
    return this.#resampler === undefined
      ? new Int16Array(0)
      : this.#trim(this.#level(this.#resampler.push(this.#takeSamples())));
  }

  /** The rest, with `pauseAfterMs` of silence at the end; nothing when there was no sound at all. */
  end(): Int16Array {
    const rest = this.#resampler?.flush() ?? new Float32Array(0);
    const tail = this.#trim(this.#level(rest));
    if (!this.#hasBegun) {
      return new Int16Array(0);
    }
    const pause = new Int16Array(this.#pauseSamples);
    pause.set(this.#quiet.subarray(0, this.#pauseSamples));
    return concat(tail, pause);
  }

  #readHeader(): LineResampler | undefined {
    if (this.#bytes.length < HEADER_BYTES) {
      return undefined;
    }
    if (this.#bytes.toString('latin1', 0, 4) !== 'RIFF') {
      throw new RangeError('Cannot read the speech of espeak-ng: not a WAV stream');
    }
    const resampler = new LineResampler(this.#bytes.readUInt32LE(24));
    this.#bytes = this.#bytes.subarray(HEADER_BYTES);
    return resampler;
  }

  /** Whole samples; an odd last byte waits for its other half. */
  #takeSamples(): Int16Array {
    const count = this.#bytes.length >> 1;
    const samples = new Int16Array(count);
    for (let n = 0; n < count; n++) {
      samples[n] = this.#bytes.readInt16LE(2 * n);
    }
    this.#bytes = this.#bytes.subarray(2 * count);
    return samples;
  }

  #level(samples: Float32Array): Int16Array {
    return Int16Array.from(samples, (sample) => bend(sample * this.#gain));
  }

  #trim(samples: Int16Array): Int16Array {
    const first = samples.findIndex(isSound);
    if (first < 0) {
      this.#quiet = concat(this.#quiet, samples);
      return new Int16Array(0);
    }
    const last = samples.findLastIndex(isSound);
    const before = concat(this.#quiet, samples.subarray(0, first));
    this.#quiet = samples.slice(last + 1);
    const kept = this.#hasBegun ? before : before.slice(-LEAD_SAMPLES);
    this.#hasBegun = true;
    return concat(kept, samples.subarray(first, last + 1));
  }
}

/** Bends what would be too loud, so that a peak is never cut off. */
function bend(sample: number): number {
  const size = Math.abs(sample);
  if (size <= KNEE) {
    return Math.round(sample);
  }
  const room = FULL_SCALE - 1 - KNEE;
  return Math.round(Math.sign(sample) * (KNEE + room * Math.tanh((size - KNEE) / room)));
}

function isSound(sample: number): boolean {
  return Math.abs(sample) > SILENCE;
}

function concat(first: Int16Array, second: Int16Array): Int16Array {
  const joined = new Int16Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
