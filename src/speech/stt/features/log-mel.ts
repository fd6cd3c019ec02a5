/** Whisper's log-mel spectrogram, grown while the audio arrives, so that little is left to do when a turn ends; pure */

/** Samples in one window: 25 ms at 16 kHz. */
export const WINDOW_SAMPLES = 400;

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

/** Input of a speech encoder. */
export interface MelFeatures {
  /** Mel by mel, and within a mel frame by frame. */
  readonly values: Float32Array;
  readonly frames: number;
}

/** One utterance's spectrogram. Audio after 30 s is left out. */
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
   * Returns the features of the audio so far; more audio may follow.
   *
   * @param frames an even number; frames beyond the audio are silence.
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

/** Samples per second that every model here hears. */
export const MODEL_RATE_HZ = 16_000;

/** Bins of one window's power spectrum, from 0 Hz to 8 kHz. */
const SPECTRUM_BINS = WINDOW_SAMPLES / 2 + 1;

/** A triangle over neighbouring bins; everything outside of it is zero. */
interface MelFilter {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

/**
 * Makes the filters, lowest first.
 *
 * @param melCount 80, or 128 for large-v3.
 * @see M. Slaney, Auditory Toolbox; the same as `mel_filter_bank` of
 * huggingface/transformers with `norm` and `mel_scale` "slaney"
 */
export function melFilters(melCount: number): readonly MelFilter[] {
  const topMel = melOfHz(MODEL_RATE_HZ / 2);
  const edgeHz = (index: number) => hzOfMel((topMel * index) / (melCount + 1));
  return Array.from({ length: melCount }, (_, mel) =>
    triangle(edgeHz(mel), edgeHz(mel + 1), edgeHz(mel + 2)),
  );
}

/** Rises from `lowHz` to `peakHz`, falls to `highHz`; its area is 1. */
function triangle(lowHz: number, peakHz: number, highHz: number): MelFilter {
  const binHz = MODEL_RATE_HZ / WINDOW_SAMPLES;
  const firstBin = Math.floor(lowHz / binHz) + 1;
  const lastBin = Math.min(Math.ceil(highHz / binHz) - 1, SPECTRUM_BINS - 1);
  const weights = Float64Array.from({ length: Math.max(0, lastBin - firstBin + 1) }, (_, index) => {
    const hz = (firstBin + index) * binHz;
    const height = Math.min((hz - lowHz) / (peakHz - lowHz), (highHz - hz) / (highHz - peakHz));
    return (Math.max(0, height) * 2) / (highHz - lowHz);
  });
  return { firstBin, weights };
}

/** Slaney's mel scale is linear up to here, logarithmic above. */
const BREAK_HZ = 1000;
const BREAK_MEL = 15;
const HZ_PER_MEL = BREAK_HZ / BREAK_MEL;
const LOG_STEP = Math.log(6.4) / 27;

function melOfHz(hz: number): number {
  return hz < BREAK_HZ ? hz / HZ_PER_MEL : BREAK_MEL + Math.log(hz / BREAK_HZ) / LOG_STEP;
}

function hzOfMel(mel: number): number {
  return mel < BREAK_MEL ? mel * HZ_PER_MEL : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL));
}

/** 4 * 4 * 5 * 5 = 400. An even number of stages, so the result lands where the input was. */
const RADICES = [4, 4, 5, 5] as const;

/** One pass over the data, which joins `radix` transforms of `span` points into one. */
interface Stage {
  readonly radix: number;
  readonly span: number;
  /** How many joined transforms come out of this pass. */
  readonly groups: number;
  /** exp(-2 pi i * leg * bin / (span * radix)) as cosine and sine, for each bin and, within it, each leg. */
  readonly roots: Float64Array;
}

const STAGES = planStages();

/**
 * Transforms 400 complex points in place. Keeps work space: use one instance a thread of computing.
 *
 * @see Stockham's self-sorting transform: C. Van Loan, Computational Frameworks for the FFT, section 1.7
 */
export class FourierTransform {
  readonly re = new Float64Array(WINDOW_SAMPLES);
  readonly im = new Float64Array(WINDOW_SAMPLES);
  readonly #workRe = new Float64Array(WINDOW_SAMPLES);
  readonly #workIm = new Float64Array(WINDOW_SAMPLES);

  /** Replaces `re` and `im` by their transform. */
  run(): void {
    let from = { re: this.re, im: this.im };
    let to = { re: this.#workRe, im: this.#workIm };
    for (const stage of STAGES) {
      joinTransforms(stage, from, to);
      [from, to] = [to, from];
    }
  }
}

interface ComplexPoints {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Every output is the sum over the joined transforms' bins, each turned by its root of unity. */
function joinTransforms(stage: Stage, from: ComplexPoints, to: ComplexPoints): void {
  const { radix, span, groups, roots } = stage;
  const { re: fromRe, im: fromIm } = from;
  const step = groups * span;
  for (let output = 0; output < WINDOW_SAMPLES; output += 1) {
    const bin = output % (span * radix);
    let source = (output - bin) / radix + (bin % span);
    let root = 2 * radix * bin;
    let re = 0;
    let im = 0;
    for (let leg = 0; leg < radix; leg += 1) {
      const x = fromRe[source] as number;
      const y = fromIm[source] as number;
      const cos = roots[root] as number;
      const sin = roots[root + 1] as number;
      re += x * cos - y * sin;
      im += x * sin + y * cos;
      source += step;
      root += 2;
    }
    to.re[output] = re;
    to.im[output] = im;
  }
}

function planStages(): Stage[] {
  const stages: Stage[] = [];
  let span = 1;
  for (const radix of RADICES) {
    stages.push({
      radix,
      span,
      groups: WINDOW_SAMPLES / (span * radix),
      roots: rootsOf(span * radix, radix),
    });
    span *= radix;
  }
  return stages;
}

function rootsOf(size: number, radix: number): Float64Array {
  const roots = new Float64Array(2 * size * radix);
  for (let bin = 0; bin < size; bin += 1) {
    for (let leg = 0; leg < radix; leg += 1) {
      const angle = (-2 * Math.PI * leg * bin) / size;
      roots[2 * (bin * radix + leg)] = Math.cos(angle);
      roots[2 * (bin * radix + leg) + 1] = Math.sin(angle);
    }
  }
  return roots;
}
