/** Brings speech at the line's rate to an even loudness, and takes the silence off its ends; pure */
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';

/** Level of speech, RMS over its voiced parts, that every engine aims at. */
export const LOUDNESS_DBFS = -18;

export const FULL_SCALE = 32_768;

/** Above this the wave is bent instead of cut off: -4 dBFS. */
const KNEE = 0.63 * FULL_SCALE;

/** What is quieter is silence: -50 dBFS. */
const SILENCE = 0.003 * FULL_SCALE;

/** Kept before the first sound, so that no consonant loses its beginning. */
const LEAD_SAMPLES = (8 * LINE_RATE_HZ) / 1000;

/** One utterance on its way to the line. */
export class VoiceLine {
  readonly #gain: number;
  readonly #pauseSamples: number;
  #hasBegun = false;
  /** Silence that may turn out to be the end, or not. */
  #quiet: Int16Array = new Int16Array(0);

  /** @param options.pauseAfterMs silence to leave at the end. */
  constructor(options: { readonly gainDb: number; readonly pauseAfterMs: number }) {
    this.#gain = 10 ** (options.gainDb / 20);
    this.#pauseSamples = Math.round((options.pauseAfterMs * LINE_RATE_HZ) / 1000);
  }

  /** @param samples at 8 kHz, of a 16-bit scale. */
  push(samples: Float32Array): Int16Array {
    return this.#trim(Int16Array.from(samples, (sample) => bend(sample * this.#gain)));
  }

  /** The pause at the end; nothing when there was no sound at all. */
  end(): Int16Array {
    if (!this.#hasBegun) return new Int16Array(0);
    const pause = new Int16Array(this.#pauseSamples);
    pause.set(this.#quiet.subarray(0, this.#pauseSamples));
    return pause;
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

/** One after the other. */
export function concat(...pieces: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
