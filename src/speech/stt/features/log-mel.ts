/** Whisper's log-mel spectrogram, grown while the audio arrives, so that little is left to do when a turn ends; pure */
import { FourierTransform, WINDOW_SAMPLES } from './fourier-transform.ts';
import { type MelFilter, melFilters, SPECTRUM_BINS } from './mel-filters.ts';

/** Samples from one frame to the next: 10 ms at 16 kHz. */
export const HOP_SAMPLES = 160;

/** Frames of the 30 s that Whisper was trained on. */
export const FULL_WINDOW_FRAMES = 3000;

/** A frame looks this far to both sides of its middle. */
const REACH_SAMPLES = WINDOW_SAMPLES / 2;

/** log10 of the least power that counts. */
const FLOOR_LOG = -10;

const HANN = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / WINDOW_SAMPLES),
);

/** What an encoder takes. */
export interface MelFeatures {
  /** Mel by mel, and within a mel frame by frame. */
  readonly values: Float32Array;
  readonly frames: number;
}

/** One utterance's spectrogram. What comes after 30 s is left out. */
export class LogMel {
  readonly melCount: number;
  readonly #filters: readonly MelFilter[];
  readonly #fourier = new FourierTransform();
  readonly #powers = [new Float64Array(SPECTRUM_BINS), new Float64Array(SPECTRUM_BINS)] as const;
  /** Log powers, frame by frame; grows by doubling. */
  #logs: Float32Array;
  #framesDone = 0;
  /** Samples that frames still to come will look at; the first of them is number `#tailStart`. */
  #tail = new Float32Array(0);
  #tailStart = 0;
  #samples = 0;

  constructor(options: { melCount: number }) {
    this.melCount = options.melCount;
    this.#filters = melFilters(options.melCount);
    this.#logs = new Float32Array(options.melCount * 200);
  }

  get samples(): number {
    return this.#samples;
  }

  /** Frames that hold any of the audio; even, as the encoder halves them. */
  get frames(): number {
    return Math.min(FULL_WINDOW_FRAMES, 2 * Math.ceil(this.#samples / HOP_SAMPLES / 2));
  }

  /** Adds audio: 16 kHz, mono, -1..1. */
  push(pcm: Float32Array): void {
    const room = FULL_WINDOW_FRAMES * HOP_SAMPLES - this.#samples;
    const taken = pcm.subarray(0, Math.max(0, room));
    this.#tail = concatenate(this.#tail, taken);
    this.#samples += taken.length;

    const ready = Math.floor((this.#samples - REACH_SAMPLES) / HOP_SAMPLES) + 1;
    this.#fill(Math.min(FULL_WINDOW_FRAMES, ready - (ready % 2)));
    this.#framesDone = Math.max(this.#framesDone, ready - (ready % 2));
    this.#forgetSeen();
  }

  /**
   * Gives the features of what was heard so far; more audio may follow.
   *
   * @param frames an even number; what the audio does not reach is silence.
   * @returns values scaled as Whisper expects: floor 8 below the loudest, then (log + 4) / 4.
   */
  features(frames: number): MelFeatures {
    const heard = Math.min(frames, this.#framesTouched());
    this.#fill(heard);
    const size = heard * this.melCount;

    let loudest = FLOOR_LOG;
    for (let index = 0; index < size; index += 1) {
      loudest = Math.max(loudest, this.#logs[index] as number);
    }

    return { values: this.#scaled(frames, heard, loudest - 8), frames };
  }

  /** Turns frames by mels into mels by frames, scaled, the rest silent. */
  #scaled(frames: number, heard: number, floor: number): Float32Array {
    const values = new Float32Array(this.melCount * frames);
    const silence = (Math.max(FLOOR_LOG, floor) + 4) / 4;
    for (let mel = 0; mel < this.melCount; mel += 1) {
      const row = mel * frames;
      for (let frame = 0; frame < heard; frame += 1) {
        const log = this.#logs[frame * this.melCount + mel] as number;
        values[row + frame] = (Math.max(log, floor) + 4) / 4;
      }
      values.fill(silence, row + heard, row + frames);
    }
    return values;
  }

  /** Frames whose window reaches into the audio; even. */
  #framesTouched(): number {
    const touched = Math.ceil((this.#samples + REACH_SAMPLES) / HOP_SAMPLES);
    return Math.min(FULL_WINDOW_FRAMES, touched + (touched % 2));
  }

  /** Computes the frames up to `end` that are not final yet; beyond the audio they see silence. */
  #fill(end: number): void {
    this.#reserve(end);
    for (let frame = this.#framesDone; frame < end; frame += 2) this.#computePair(frame);
  }

  #reserve(frames: number): void {
    const needed = frames * this.melCount;
    if (needed <= this.#logs.length) return;
    const grown = new Float32Array(Math.max(needed, 2 * this.#logs.length));
    grown.set(this.#logs);
    this.#logs = grown;
  }

  /** Two neighbouring frames in one transform: one is its real part, the other its imaginary part. */
  #computePair(frame: number): void {
    const { re, im } = this.#fourier;
    const start = frame * HOP_SAMPLES - REACH_SAMPLES;
    for (let index = 0; index < WINDOW_SAMPLES; index += 1) {
      const weight = HANN[index] as number;
      re[index] = this.#sample(start + index) * weight;
      im[index] = this.#sample(start + HOP_SAMPLES + index) * weight;
    }
    this.#fourier.run();
    this.#splitPowers();
    this.#apply(this.#powers[0], frame);
    this.#apply(this.#powers[1], frame + 1);
  }

  /** The audio mirrors itself before its start and is silent after its end. */
  #sample(position: number): number {
    return this.#tail[Math.abs(position) - this.#tailStart] ?? 0;
  }

  /** Parts the two real signals again: a real signal's spectrum mirrors itself, conjugated. */
  #splitPowers(): void {
    const { re, im } = this.#fourier;
    const [first, second] = this.#powers;
    for (let bin = 0; bin < SPECTRUM_BINS; bin += 1) {
      const mirror = (WINDOW_SAMPLES - bin) % WINDOW_SAMPLES;
      const a = re[bin] as number;
      const b = im[bin] as number;
      const c = re[mirror] as number;
      const d = im[mirror] as number;
      first[bin] = ((a + c) ** 2 + (b - d) ** 2) / 4;
      second[bin] = ((b + d) ** 2 + (c - a) ** 2) / 4;
    }
  }

  #apply(power: Float64Array, frame: number): void {
    const row = frame * this.melCount;
    for (let mel = 0; mel < this.melCount; mel += 1) {
      const { firstBin, weights } = this.#filters[mel] as MelFilter;
      let sum = 0;
      for (let index = 0; index < weights.length; index += 1) {
        sum += (weights[index] as number) * (power[firstBin + index] as number);
      }
      this.#logs[row + mel] = Math.log10(Math.max(sum, 1e-10));
    }
  }

  /** Drops the samples that no frame will look at again. */
  #forgetSeen(): void {
    const needed = Math.max(0, this.#framesDone * HOP_SAMPLES - REACH_SAMPLES);
    if (needed === this.#tailStart) return;
    this.#tail = this.#tail.slice(needed - this.#tailStart);
    this.#tailStart = needed;
  }
}

function concatenate(first: Float32Array, second: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
