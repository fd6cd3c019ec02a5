/** The port of an end-of-turn model inside its child process, the child's messages, and the engine Smart Turn. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { SpeechEngine } from '../models/speech-engine.ts';

/** Scores from the sound of a pause whether the caller has finished the turn. */
export interface TurnDetector {
  /**
   * Scores a pause.
   *
   * @param pcm the caller's audio of this turn and the silence after it: 8 kHz, mono, signed 16-bit; the newest 8 s count.
   * @returns chance that the turn is complete, from 0 to 1.
   */
  score(pcm: Int16Array): Promise<number>;

  /** Releases the model. Call it when no score is under way. */
  close(): Promise<void>;
}

/** Exports of an end-of-turn engine's module. */
export interface TurnDetectorModule {
  /** @throws {Error} naming the file, its fault and the remedy. */
  openTurnDetector(modelPath: string): Promise<TurnDetector>;
}

/** Message to the child, besides `load` and `stop`. `pcm` as for `TurnDetector.score`. */
export interface ToTurnChild {
  readonly kind: 'score';
  readonly request: number;
  readonly pcm: Int16Array;
}

/** Messages from the child, besides `loaded`. */
export type FromTurnChild =
  | { readonly kind: 'scored'; readonly request: number; readonly probability: number }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };

/** Finds `turn/<file>.onnx` and `turn/<name>/<file>.onnx` in the models folder. */
export const smartTurnEngine: SpeechEngine = {
  name: 'smart-turn',
  moduleUrl: new URL('./smart-turn-detector.ts', import.meta.url).href,
  find: (modelsDir) =>
    globSync(['turn/*.onnx', 'turn/*/*.onnx'], { cwd: modelsDir })
      .sort()
      .map((path) => join(modelsDir, path)),
};
