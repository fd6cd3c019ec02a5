/** Speech recognition by transformers.js: each request runs the whole pipeline over a window of 30 s. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { languageOf } from '../../../lib/language-tag.ts';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { MODEL_RATE_HZ } from '../features/log-mel.ts';
import { Upsampler } from '../features/resampler.ts';
import {
  AUDIO_MS_MIN,
  nothingHeard,
  type Recognition,
  type Recognizer,
  type UtteranceStream,
} from '../pool/recognizer.ts';

const MODEL = 'speech model';
const PACKAGE = '@huggingface/transformers';

const SAMPLES_MAX = 30 * MODEL_RATE_HZ;

/** The used part of the package. */
interface Transformers {
  readonly env: { allowRemoteModels: boolean; localModelPath: string };
  pipeline(
    task: 'automatic-speech-recognition',
    model: string,
    options: object,
  ): Promise<TransformersPipeline>;
}

interface TransformersPipeline {
  (audio: Float32Array, options: object): Promise<unknown>;
  dispose(): Promise<void>;
}

/**
 * Loads any model of the package's pipeline. It reports no confidence (given as 1) and no silence, takes no prompt, and a
 * request cannot be aborted once it runs.
 *
 * @throws {ModelFileError}
 * @throws {Error} naming the package when it is not installed.
 */
export async function openRecognizer(modelPath: string): Promise<Recognizer> {
  const { env, pipeline } = await importPackage(modelPath);
  env.allowRemoteModels = false;
  env.localModelPath = dirname(modelPath);
  const isSmall = existsSync(join(modelPath, 'onnx', 'encoder_model_quantized.onnx'));
  try {
    const recognize = await pipeline('automatic-speech-recognition', basename(modelPath), {
      dtype: isSmall ? 'q8' : 'fp32',
      device: 'cpu',
    });
    return {
      drawback: 'transformers.js takes 30 s at a time and reports no confidence',
      open: ({ language }) => new TransformersStream(recognize, language),
      close: () => recognize.dispose(),
    };
  } catch (error) {
    throw ModelFileError.from(MODEL, modelPath, error);
  }
}

async function importPackage(modelPath: string): Promise<Transformers> {
  try {
    // Not a literal: the package is optional.
    return (await import(PACKAGE as string)) as Transformers;
  } catch (error) {
    const reason = `the package "${PACKAGE}" is not installed: run "npm install ${PACKAGE}"`;
    throw new Error(`Cannot load the ${MODEL} "${modelPath}": ${reason}`, { cause: error });
  }
}

class TransformersStream implements UtteranceStream {
  readonly #recognize: TransformersPipeline;
  readonly #language: string;
  readonly #upsampler = new Upsampler();
  readonly #parts: Float32Array[] = [];
  #length = 0;

  constructor(recognize: TransformersPipeline, language: string) {
    this.#recognize = recognize;
    this.#language = languageOf(language);
  }

  push(pcm: Int16Array): void {
    const part = this.#upsampler.push(pcm).slice(0, SAMPLES_MAX - this.#length);
    this.#parts.push(part);
    this.#length += part.length;
  }

  async transcribe({ signal }: Parameters<UtteranceStream['transcribe']>[0]): Promise<Recognition> {
    const audioMs = (this.#length * 1000) / MODEL_RATE_HZ;
    const language = this.#language;
    const nothing = nothingHeard(language, audioMs);
    if (audioMs < AUDIO_MS_MIN) return nothing;
    signal.throwIfAborted();
    const text = textOf(await this.#recognize(this.#heard(), { language, task: 'transcribe' }));
    signal.throwIfAborted();
    const words = text
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => ({ text: word, confidence: 1 }));
    return { ...nothing, text, words, confidence: 1, noSpeechProbability: 0 };
  }

  #heard(): Float32Array {
    const heard = new Float32Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      heard.set(part, at);
      at += part.length;
    }
    return heard;
  }
}

function textOf(output: unknown): string {
  const first: unknown = Array.isArray(output) ? output[0] : output;
  const { text } = (first ?? {}) as { readonly text?: unknown };
  return typeof text === 'string' ? text.trim() : '';
}
