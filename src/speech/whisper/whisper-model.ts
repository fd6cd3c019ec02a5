/** A Whisper model in memory: its two graphs on ONNX Runtime, checked against what its configuration says. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { ModelFileError } from '../model-file-error.ts';
import { FULL_WINDOW_FRAMES, type MelFeatures } from './log-mel.ts';
import type { Tokenizer } from './tokenizer.ts';
import { readWhisperConfig, type WhisperConfig } from './whisper-config.ts';

const MODEL = 'speech model';

/** Endings of the files' names, best first: 8-bit weights are half the time for the same words. */
const VARIANTS = ['_quantized', ''] as const;

/** A window to try an encoder with that does not state how many frames it takes. */
const PROBE_FRAMES = 200;

/** What the encoder heard: float32 [1, frames / 2, modelSize]. */
export type EncodedAudio = Tensor;

export interface WhisperModel {
  readonly config: WhisperConfig;
  readonly tokenizer: Tokenizer;
  readonly decoder: InferenceSession;
  /** Whether the encoder takes less than 30 s at a time. */
  readonly hasFreeWindow: boolean;
  encode(features: MelFeatures): Promise<EncodedAudio>;
  close(): Promise<void>;
}

/**
 * Loads an export in Hugging Face's layout: the JSON files, and `onnx/encoder_model.onnx` and
 * `onnx/decoder_model_merged.onnx`, of which `_quantized` ones are preferred.
 *
 * @throws {ModelFileError}
 * @see huggingface/optimum: WhisperOnnxConfig, `decoder_model_merged` with `use_cache_branch`
 */
export async function loadWhisperModel(modelDir: string): Promise<WhisperModel> {
  const { config, tokenizer } = await readWhisperConfig(modelDir);
  const [encoderPath, decoderPath] = [
    graphPath(modelDir, 'encoder_model'),
    graphPath(modelDir, 'decoder_model_merged'),
  ];
  const [encoder, decoder] = await Promise.all([openGraph(encoderPath), openGraph(decoderPath)]);
  checkDecoder(decoder, decoderPath, config);

  const encode = async ({ values, frames }: MelFeatures) => {
    const features = new Tensor('float32', values, [1, config.melCount, frames]);
    const { last_hidden_state: encoded } = await encoder.run({ input_features: features });
    checkEncoded(encoded, encoderPath, frames, config);
    return encoded;
  };
  return {
    config,
    tokenizer,
    decoder,
    hasFreeWindow: await mayShorten(encoder, encode, config),
    encode,
    close: async () => {
      await Promise.all([encoder.release(), decoder.release()]);
    },
  };
}

function graphPath(modelDir: string, name: string): string {
  const paths = VARIANTS.map((variant) => join(modelDir, 'onnx', `${name}${variant}.onnx`));
  return paths.find((path) => existsSync(path)) ?? join(modelDir, 'onnx', `${name}.onnx`);
}

async function openGraph(path: string): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(path, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

/** Names of the decoder's memory of one layer, past and present. */
export function cacheNames(layer: number) {
  return (['decoder', 'encoder'] as const).flatMap((part) =>
    (['key', 'value'] as const).map((kind) => ({
      past: `past_key_values.${layer}.${part}.${kind}`,
      present: `present.${layer}.${part}.${kind}`,
      /** The encoder's part is computed in the first step and stays. */
      isFixed: part === 'encoder',
    })),
  );
}

function checkDecoder(decoder: InferenceSession, path: string, config: WhisperConfig): void {
  const caches = Array.from({ length: config.layers }, (_, layer) => cacheNames(layer)).flat();
  const given = new Set([
    'input_ids',
    'encoder_hidden_states',
    'use_cache_branch',
    ...caches.map(({ past }) => past),
  ]);
  const unknown = decoder.inputNames.find((name) => !given.has(name));
  if (unknown !== undefined) {
    throw new ModelFileError(MODEL, path, `it wants an input "${unknown}" that Whisper has not`);
  }
  const outputs = ['logits', ...caches.map(({ present }) => present)];
  const missing = [
    ...[...given].filter((name) => !decoder.inputNames.includes(name)),
    ...outputs.filter((name) => !decoder.outputNames.includes(name)),
  ][0];
  if (missing !== undefined) {
    throw new ModelFileError(MODEL, path, `it has no "${missing}": is it the merged decoder?`);
  }
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

/** Usual exports add a table of 1500 positions and fail on any other window, whatever their shapes say. */
async function mayShorten(
  encoder: InferenceSession,
  encode: (features: MelFeatures) => Promise<EncodedAudio>,
  config: WhisperConfig,
): Promise<boolean> {
  const input = encoder.inputMetadata[0];
  const stated = input?.isTensor === true ? input.shape[2] : undefined;
  if (stated === FULL_WINDOW_FRAMES) return false;
  const values = new Float32Array(config.melCount * PROBE_FRAMES);
  return encode({ values, frames: PROBE_FRAMES }).then(
    () => true,
    () => false,
  );
}
