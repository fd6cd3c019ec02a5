/** Model cache: keeps the most recently used voice models open, with each voice's loudness. */

import { FULL_SCALE, LOUDNESS_DBFS } from '../pool/voice-line.ts';
import type { VoiceModel } from './voice-model.ts';

/** A Piper voice holds about 100 MB, a Kokoro model 400 MB with all its voices. */
const MODELS_MAX = 4;

export class ModelCache {
  readonly #load: (path: string) => Promise<VoiceModel>;
  /** By path, the one used last at the end. */
  readonly #models = new Map<string, Promise<VoiceModel>>();
  readonly #levels = new Map<string, VoiceLevel>();

  constructor(load: (path: string) => Promise<VoiceModel>) {
    this.#load = load;
  }

  /** Opens a model where it is not open. One that is not used longest makes room. @throws what loading threw. */
  open(path: string): Promise<VoiceModel> {
    const model = this.#models.get(path) ?? this.#load(path);
    this.#models.delete(path);
    this.#models.set(path, model);
    // A file that was put right is tried again.
    model.catch(() => this.#models.delete(path));
    const [oldest] = this.#models;
    if (oldest !== undefined && this.#models.size > MODELS_MAX) {
      this.#models.delete(oldest[0]);
      // Inference in progress ends before the model is closed.
      oldest[1].then((unused) => unused.close()).catch(() => undefined);
    }
    return model;
  }

  /** How loud a voice is, learnt from all that it said here. */
  levelOf(voice: string): VoiceLevel {
    const level = this.#levels.get(voice) ?? new VoiceLevel();
    this.#levels.set(voice, level);
    return level;
  }

  /** Call it when nothing speaks any more. */
  async close(): Promise<void> {
    const open = [...this.#models.values()];
    this.#models.clear();
    await Promise.allSettled(open.map(async (model) => (await model).close()));
  }
}

/** 20 ms at the line's rate. */
const FRAME_SAMPLES = 160;

/** Frames that are this much below the loudest are pauses. */
const RANGE_DB = 25;

/** A voice is known well after half a minute; what comes then hardly changes its gain. */
const FRAMES_MAX = 1500;

const GAIN_DB_MAX = 30;

/** Learns one voice's loudness from all that it has said. */
export class VoiceLevel {
  #power = 0;
  #frames = 0;

  /**
   * Weighs the next sentence.
   *
   * @param samples 8 kHz, of a 16-bit scale.
   * @returns the gain for it, in decibels.
   */
  weigh(samples: Float32Array): number {
    const powers = voicedPowers(samples);
    if (powers.length > 0) {
      const mean = powers.reduce((sum, power) => sum + power, 0) / powers.length;
      const known = Math.min(this.#frames, FRAMES_MAX);
      this.#power = (this.#power * known + mean * powers.length) / (known + powers.length);
      this.#frames = known + powers.length;
    }
    if (this.#power === 0) return 0;
    const levelDbfs = 10 * Math.log10(this.#power / FULL_SCALE ** 2);
    return Math.max(-GAIN_DB_MAX, Math.min(GAIN_DB_MAX, LOUDNESS_DBFS - levelDbfs));
  }
}

function voicedPowers(samples: Float32Array): readonly number[] {
  const powers = Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, n) => {
    const frame = samples.subarray(n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES);
    return frame.reduce((sum, sample) => sum + sample * sample, 0) / FRAME_SAMPLES;
  });
  const loudest = powers.reduce((most, power) => Math.max(most, power), 0);
  return powers.filter((power) => power > 0 && power >= loudest * 10 ** (-RANGE_DB / 10));
}
