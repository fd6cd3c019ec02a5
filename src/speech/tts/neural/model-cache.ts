/** Models that are open: those used last. */
import { VoiceLevel } from '../voices/voice-level.ts';
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
      // Runs under way end before the model is let go.
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
