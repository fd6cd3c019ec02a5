/** Smart Turn, version 3, on ONNX Runtime: one run tells from 8 s of sound whether the caller has finished. */

import { ModelFileError } from '../models/model-file-error.ts';
import { type InferenceSession, Tensor } from '../models/onnx-runtime.ts';
import { openSession } from '../models/onnx-session.ts';
import { FRAMES, MEL_COUNT, smartTurnFeatures } from './smart-turn-features.ts';
import type { TurnDetector } from './turn-detector.ts';

const MODEL = 'turn detector';

/**
 * Loads a Smart Turn model and has it score a silence, so that a wrong one fails here and not in a call.
 *
 * @throws {ModelFileError}
 * @see https://huggingface.co/pipecat-ai/smart-turn-v3: `input_features` float32 [1, 80, 800]; the first output
 * float32 [1, 1], a probability already
 */
export async function openTurnDetector(modelPath: string): Promise<TurnDetector> {
  const session = await openSession({ model: MODEL, path: modelPath, threads: 1 });
  const detector = new SmartTurnDetector(session);
  const score = await detector.score(new Int16Array(0)).catch(() => Number.NaN);
  if (score >= 0 && score <= 1) return detector;
  await session.release();
  throw new ModelFileError(MODEL, modelPath, 'it has not the interface of Smart Turn v3');
}

class SmartTurnDetector implements TurnDetector {
  readonly #session: InferenceSession;

  constructor(session: InferenceSession) {
    this.#session = session;
  }

  async score(pcm: Int16Array): Promise<number> {
    const values = smartTurnFeatures(pcm);
    const outputs = await this.#session.run({
      input_features: new Tensor('float32', values, [1, MEL_COUNT, FRAMES]),
    });
    const [probability] = (outputs[this.#session.outputNames[0] ?? '']?.data ?? []) as Float32Array;
    if (probability === undefined) throw new Error('Cannot score the turn: the model gave nothing');
    return probability;
  }

  close(): Promise<void> {
    return this.#session.release();
  }
}
