/** Smart Turn, version 3, on ONNX Runtime: one run tells from 8 s of sound whether the caller has finished. */

import { ModelFileError } from '../../lib/onnx/model-file-error.ts';
import { type InferenceSession, openSession, Tensor } from '../../lib/onnx/onnx-session.ts';
import { HOP_SAMPLES, LogMel, MODEL_RATE_HZ } from '../stt/features/log-mel.ts';
import { Upsampler } from '../stt/features/resampler.ts';
import type { TurnDetector } from './turn-detector.ts';

const MODEL = 'turn detector';

/**
 * Loads a Smart Turn model and scores a silence, so that a wrong model fails here and not in a call.
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

const MEL_COUNT = 80;

/** 8 s of 10 ms. */
const FRAMES = 800;

const WAVE_SAMPLES = FRAMES * HOP_SAMPLES;

/** A frame extends this far past its centre; beyond the end of the wave it sees the end mirrored. */
const MIRRORED_SAMPLES = 200;

/** Prevents a division by zero for silence; as in Hugging Face's feature extractor. */
const VARIANCE_MIN = 1e-7;

/**
 * Makes the model's input.
 *
 * @param pcm 8 kHz, mono, signed 16-bit; audio before the newest 8 s is left out, shorter audio gets silence in front.
 * @returns 80 mels by 800 frames, mel by mel.
 * @see https://github.com/pipecat-ai/smart-turn, inference; `WhisperFeatureExtractor` of
 * huggingface/transformers with `chunk_length` 8 and `do_normalize`
 */
export function smartTurnFeatures(pcm: Int16Array): Float32Array {
  const newest = pcm.subarray(Math.max(0, pcm.length - (WAVE_SAMPLES * 8000) / MODEL_RATE_HZ));
  const heard = new Upsampler().push(newest);
  const wave = new Float32Array(WAVE_SAMPLES + MIRRORED_SAMPLES);
  wave.set(heard, WAVE_SAMPLES - heard.length);
  normalize(wave.subarray(0, WAVE_SAMPLES));
  mirrorEnd(wave);

  const mel = new LogMel({ melCount: MEL_COUNT });
  mel.push(wave);
  return mel.features(FRAMES).values;
}

function normalize(wave: Float32Array): void {
  const mean = wave.reduce((sum, sample) => sum + sample, 0) / wave.length;
  const variance = wave.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / wave.length;
  const scale = 1 / Math.sqrt(variance + VARIANCE_MIN);
  for (let index = 0; index < wave.length; index += 1) {
    wave[index] = ((wave[index] as number) - mean) * scale;
  }
}

function mirrorEnd(wave: Float32Array): void {
  for (let index = 0; index < MIRRORED_SAMPLES; index += 1) {
    wave[WAVE_SAMPLES + index] = wave[WAVE_SAMPLES - 2 - index] as number;
  }
}
