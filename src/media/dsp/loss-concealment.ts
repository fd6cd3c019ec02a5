/** Packet-loss concealment: fills the place of lost sound with repeated pitch periods that fade out (G.711 Appendix I); pure */
import { LINE_RATE_HZ } from '../audio-stream.ts';
import { SlidingWindow } from './sliding-window.ts';

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Bounds of the pitch search: 200 Hz to 66 Hz. */
const PITCH_SAMPLES_MIN = 40;
const PITCH_SAMPLES_MAX = 120;

/** 48.75 ms: three of the longest pitch periods, and a quarter to join them. */
const HISTORY_SAMPLES = 390;

/** The newest 20 ms are compared with earlier sound in the pitch search. */
const COMPARED_SAMPLES = 160;

/** The search looks at every other sample first. */
const SEARCH_STEP = 2;

/** One pitch period is repeated in the first 10 ms, two in the next, three after that: fewer sound like a beep. */
const STAGE_SAMPLES = 10 * SAMPLES_PER_MS;
const STAGES = 3;

/** The first 10 ms keep their level; it falls by 20 % each 10 ms, to silence after 60 ms. */
const FADE_STARTS_SAMPLES = 10 * SAMPLES_PER_MS;
const FADE_ENDS_SAMPLES = 60 * SAMPLES_PER_MS;

/** The cross-fade into good sound grows by 4 ms each further 10 ms, to 10 ms at most. */
const JOIN_SAMPLES_EACH = 4 * SAMPLES_PER_MS;
const JOIN_SAMPLES_MAX = 10 * SAMPLES_PER_MS;

/** Below this energy a correlation shows only noise: amplitudes of about 5. */
const ENERGY_MIN = COMPARED_SAMPLES * 25;

/**
 * One direction of one call, fed in the order of the sound. Differs from the recommendation in one point: good sound is not
 * delayed by 3.75 ms. The join after it overlaps with that sound played backwards instead.
 *
 * @see ITU-T G.711 Appendix I
 */
export class LossConcealment {
  /** The newest sound, concealed sound included. */
  readonly #history = new SlidingWindow(HISTORY_SAMPLES);
  #hasHistory = false;
  /** Length of the loss so far. */
  #lostSamples = 0;
  #pitch = 0;
  /** History at the beginning of the loss and, by stage, its last one, two and three pitch periods, each joined to a loop. */
  #before: Float32Array | undefined;
  #loops: readonly Float32Array[] = [];

  /** Takes received sound of any length; cross-fades its beginning, in place, where it follows a loss. */
  hear(pcm: Int16Array): void {
    if (this.#lostSamples > 0) this.#join(pcm);
    this.#lostSamples = 0;
    this.#remember(pcm);
  }

  /** @returns concealed sound of that length, which follows the sound before. */
  conceal(samples: number): Int16Array {
    const pcm = new Int16Array(samples);
    if (this.#lostSamples === 0 && this.#hasHistory) this.#begin();
    if (this.#hasHistory) {
      const sounding = Math.min(samples, FADE_ENDS_SAMPLES - this.#lostSamples);
      for (let index = 0; index < sounding; index += 1) {
        pcm[index] = Math.round(this.#sampleAt(this.#lostSamples + index));
      }
      this.#lostSamples += samples;
      this.#remember(pcm);
    }
    return pcm;
  }

  /** Forgets the sound so far; call it before silence that is no loss. */
  forget(): void {
    if (!this.#hasHistory) return;
    this.#hasHistory = false;
    this.#lostSamples = 0;
    this.#history.clear();
  }

  #begin(): void {
    const before = this.#history.toArray();
    const pitch = pitchOf(before);
    this.#before = before;
    this.#pitch = pitch;
    this.#loops = Array.from({ length: STAGES }, (_, stage) =>
      loopOf(before, { pitch, periods: stage + 1 }),
    );
  }

  /** Sample of the concealed sound, by its number since the loss began. */
  #sampleAt(at: number): number {
    const stage = Math.min(STAGES - 1, Math.floor(at / STAGE_SAMPLES));
    const into = at - stage * STAGE_SAMPLES;
    const weight = (into + 1) / (this.#quarter + 1);
    const sample = this.#read(stage, at);
    const isJoined = weight >= 1;
    const before = isJoined ? 0 : this.#sampleBefore(stage, at);
    return gainAt(at) * (isJoined ? sample : weight * sample + (1 - weight) * before);
  }

  /** Sample that a stage is joined to: of the stage before it, or of good sound backwards. */
  #sampleBefore(stage: number, at: number): number {
    return stage > 0
      ? this.#read(stage - 1, at)
      : (this.#before?.[HISTORY_SAMPLES - 1 - at] as number);
  }

  #read(stage: number, at: number): number {
    const loop = this.#loops[stage] as Float32Array;
    const startsAt = stage * STAGE_SAMPLES;
    return loop[((startsAt % this.#pitch) + at - startsAt) % loop.length] as number;
  }

  #join(pcm: Int16Array): void {
    const furtherStages = Math.max(0, Math.ceil(this.#lostSamples / STAGE_SAMPLES) - 1);
    const length = Math.min(
      ...[JOIN_SAMPLES_MAX, pcm.length],
      this.#quarter + furtherStages * JOIN_SAMPLES_EACH,
    );
    for (let index = 0; index < length; index += 1) {
      const weight = (index + 1) / (length + 1);
      const at = this.#lostSamples + index;
      const concealed = at < FADE_ENDS_SAMPLES ? this.#sampleAt(at) : 0;
      pcm[index] = Math.round(weight * (pcm[index] as number) + (1 - weight) * concealed);
    }
  }

  /** A quarter of the pitch period. */
  get #quarter(): number {
    return this.#pitch >> 2;
  }

  #remember(pcm: Int16Array): void {
    this.#hasHistory = true;
    this.#history.push(pcm);
  }
}

function gainAt(at: number): number {
  if (at < FADE_STARTS_SAMPLES) return 1;
  return Math.max(0, (FADE_ENDS_SAMPLES - at) / (FADE_ENDS_SAMPLES - FADE_STARTS_SAMPLES));
}

/** The last pitch periods of a history, whose end leads into their beginning. */
function loopOf(
  history: Float32Array,
  { pitch, periods }: { readonly pitch: number; readonly periods: number },
): Float32Array {
  const from = history.length - periods * pitch;
  const loop = Float32Array.from(history.subarray(from));
  const quarter = pitch >> 2;
  for (let index = 0; index < quarter; index += 1) {
    const weight = (index + 1) / (quarter + 1);
    const at = loop.length - quarter + index;
    const earlier = history[from - quarter + index] as number;
    loop[at] = (1 - weight) * (loop[at] as number) + weight * earlier;
  }
  return loop;
}

/** Pitch period at the end of a history, in samples: the shift at which the newest 20 ms best match the sound before. */
function pitchOf(history: Float32Array): number {
  const rough = bestShift(history, {
    ...{ from: PITCH_SAMPLES_MIN, to: PITCH_SAMPLES_MAX },
    step: SEARCH_STEP,
  });
  const from = Math.max(PITCH_SAMPLES_MIN, rough - SEARCH_STEP + 1);
  const to = Math.min(PITCH_SAMPLES_MAX, rough + SEARCH_STEP - 1);
  return bestShift(history, { from, to, step: 1 });
}

function bestShift(
  history: Float32Array,
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
): number {
  let best = from;
  let bestLikeness = Number.NEGATIVE_INFINITY;
  for (let shift = from; shift <= to; shift += step) {
    const likeness = likenessAt(history, shift, step);
    if (likeness > bestLikeness) [best, bestLikeness] = [shift, likeness];
  }
  return best;
}

/** Correlation of the newest sound with that `shift` samples before, normalised by the energy of the latter. */
function likenessAt(history: Float32Array, shift: number, step: number): number {
  let product = 0;
  let energy = 0;
  for (let at = HISTORY_SAMPLES - COMPARED_SAMPLES; at < HISTORY_SAMPLES; at += step) {
    const earlier = history[at - shift] as number;
    product += (history[at] as number) * earlier;
    energy += earlier * earlier;
  }
  return product / Math.sqrt(Math.max(energy, ENERGY_MIN / step));
}
