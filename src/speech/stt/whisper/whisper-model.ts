/** A loaded Whisper model: encoder and decoder on ONNX Runtime, checked against its configuration. */

import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { type InferenceSession, Tensor } from '../../../lib/onnx/onnx-runtime.ts';
import { openSession } from '../../../lib/onnx/onnx-session.ts';
import { graphPath } from '../../models/model-folders.ts';
import { findPrepared } from '../../models/prepared-file.ts';
import { type MergedDecoder, openMergedDecoder } from '../decoding/decoder-run.ts';
import { type AllowedTokens, allowedTokens } from '../decoding/token-choice.ts';
import { FULL_WINDOW_FRAMES, type MelFeatures } from '../features/log-mel.ts';
import type { Tokenizer } from './tokenizer.ts';
import { readWhisperConfig, type WhisperConfig } from './whisper-config.ts';

/** A loaded export. */
export interface WhisperModel {
  readonly config: WhisperConfig;
  readonly tokenizer: Tokenizer;
  readonly encoder: Encoder;
  readonly decoder: MergedDecoder;
  /** Tokens of text: in Whisper's vocabularies all tokens after the end of text are special or timestamps. */
  readonly allowed: AllowedTokens;
  /** Tokens that may come first. */
  readonly allowedFirst: AllowedTokens;
  close(): Promise<void>;
}

/**
 * Loads an export in Hugging Face's layout: the JSON files, and `onnx/encoder_model.onnx` and
 * `onnx/decoder_model_merged.onnx`, of which `_quantized` ones are preferred.
 *
 * @throws {ModelFileError}
 * @see huggingface/optimum: WhisperOnnxConfig
 */
export async function loadWhisperModel(modelDir: string, threads: number): Promise<WhisperModel> {
  const { config, tokenizer } = await readWhisperConfig(modelDir);
  const encoder = await openEncoder(graphPath(modelDir, 'encoder_model'), config, threads);
  const decoder = await openMergedDecoder({
    model: MODEL,
    path: graphPath(modelDir, 'decoder_model_merged'),
    threads,
    shape: {
      layers: config.layers,
      heads: config.heads,
      headSize: config.modelSize / config.heads,
    },
  });
  const { endToken: lastToken, suppressedTokens, suppressedFirstTokens } = config;
  return {
    config,
    tokenizer,
    encoder,
    decoder,
    allowed: allowedTokens({ lastToken, suppressed: suppressedTokens }),
    allowedFirst: allowedTokens({
      lastToken,
      suppressed: [...suppressedTokens, ...suppressedFirstTokens],
    }),
    close: async () => {
      await Promise.all([encoder.close(), decoder.session.release()]);
    },
  };
}

const MODEL = 'speech model';

/** A trial window, shorter than any that a request has. */
const PROBE_FRAMES = 200;

/** A failed run is thrown; ONNX Runtime need not print it as well. */
const RUN_OPTIONS = { logSeverityLevel: 4 } as const;

/** The encoder's output: float32 [1, frames / 2, modelSize]. */
export type EncodedAudio = Tensor;

export interface Encoder {
  /** Whether it takes windows of 30 s only, as standard exports do; prepared ones take any length. */
  readonly isWindowFixed: boolean;
  /** @throws {ModelFileError} when the model gives another shape than its configuration says. */
  encode(features: MelFeatures): Promise<EncodedAudio>;
  close(): Promise<void>;
}

/**
 * Opens the prepared file of an encoder where there is one, else the export.
 *
 * @throws {ModelFileError}
 */
export async function openEncoder(
  path: string,
  config: WhisperConfig,
  threads: number,
): Promise<Encoder> {
  const prepared = await findPrepared(path).catch((error: unknown) => {
    throw ModelFileError.from(MODEL, path, error);
  });
  return openEncoderFile(prepared ?? path, config, threads);
}

/**
 * Opens a file as it is.
 *
 * @throws {ModelFileError}
 */
export async function openEncoderFile(
  path: string,
  config: WhisperConfig,
  threads: number,
): Promise<Encoder> {
  const session = await openSession({ model: MODEL, path, threads });
  const encoder = encoderOf(session, path, config);
  if (await takesShortWindows(encoder, config)) return encoder;
  await tryFullWindow(encoder, path, config);
  return { ...encoder, isWindowFixed: true };
}

/** @throws {ModelFileError} */
async function tryFullWindow(encoder: Encoder, path: string, config: WhisperConfig): Promise<void> {
  try {
    await encoder.encode(silence(config, FULL_WINDOW_FRAMES));
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

function encoderOf(session: InferenceSession, path: string, config: WhisperConfig): Encoder {
  return {
    isWindowFixed: false,
    encode: async ({ values, frames }) => {
      const features = new Tensor('float32', values, [1, config.melCount, frames]);
      const { last_hidden_state: encoded } = await session.run(
        { input_features: features },
        RUN_OPTIONS,
      );
      checkEncoded(encoded, path, frames, config);
      return encoded;
    },
    close: () => session.release(),
  };
}

function checkEncoded(
  encoded: Tensor | undefined,
  path: string,
  frames: number,
  config: WhisperConfig,
): asserts encoded is Tensor {
  const expected = [1, frames / 2, config.modelSize].join(' x ');
  const actual = encoded?.dims.join(' x ') ?? 'nothing';
  if (actual !== expected) {
    throw new ModelFileError(MODEL, path, `it gave ${actual} where ${expected} was expected`);
  }
}

/**
 * Tries a short window: nothing in the file says whether it takes one.
 *
 * @throws {ModelFileError} when the output has a shape that no window explains.
 */
async function takesShortWindows(encoder: Encoder, config: WhisperConfig): Promise<boolean> {
  try {
    await encoder.encode(silence(config, PROBE_FRAMES));
    return true;
  } catch (error) {
    if (error instanceof ModelFileError) throw error;
    return false;
  }
}

function silence({ melCount }: WhisperConfig, frames: number): MelFeatures {
  return { values: new Float32Array(melCount * frames), frames };
}
