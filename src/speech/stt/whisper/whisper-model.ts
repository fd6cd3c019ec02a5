/** A loaded Whisper model: encoder and decoder on ONNX Runtime, checked against the configuration of its export. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { type InferenceSession, openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';
import { hasCode } from '../../../lib/unknown-value.ts';
import { findPrepared, graphPath } from '../../models/model-files.ts';
import {
  type AllowedTokens,
  type AttentionHead,
  allowedTokens,
  type MergedDecoder,
  openMergedDecoder,
} from '../decoding/decoder-run.ts';
import { FULL_WINDOW_FRAMES, type MelFeatures } from '../features/log-mel.ts';
import { Tokenizer } from './tokenizer.ts';

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
 * Tests whether the model takes a short window: its file does not say so.
 *
 * @throws {ModelFileError} when the output's shape fits no window.
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

/** Shapes and token numbers of one model. */
export interface WhisperConfig {
  readonly melCount: number;
  readonly modelSize: number;
  /** Positions of the encoder's output for 30 s. */
  readonly positions: number;
  readonly layers: number;
  readonly heads: number;
  readonly vocabularySize: number;
  /** Tokens a transcript may have, its prefix included. */
  readonly maxTokens: number;
  readonly endToken: number;
  readonly startToken: number;
  readonly noTimestampsToken: number;
  /** Absent in monolingual models. */
  readonly transcribeToken: number | undefined;
  readonly noSpeechToken: number | undefined;
  /** Begins the previous text; absent in models without prompts. */
  readonly previousToken: number | undefined;
  /** Attention heads that follow the words; empty where the export does not name them. */
  readonly alignmentHeads: readonly AttentionHead[];
  /** Empty in monolingual models. */
  readonly languageTokens: ReadonlyMap<string, number>;
  /** Never chosen. */
  readonly suppressedTokens: readonly number[];
  /** Not chosen as the first token. */
  readonly suppressedFirstTokens: readonly number[];
}

/**
 * Reads `config.json`, `tokenizer.json` and, where there is one, `generation_config.json`.
 *
 * @throws {ModelFileError}
 */
export async function readWhisperConfig(
  modelDir: string,
): Promise<{ readonly config: WhisperConfig; readonly tokenizer: Tokenizer }> {
  const [shapes, generation, tokenizer] = await Promise.all([
    readJson(join(modelDir, 'config.json')),
    readOptionalJson(join(modelDir, 'generation_config.json')),
    readTokenizer(join(modelDir, 'tokenizer.json')),
  ]);
  const config = configOf(join(modelDir, 'config.json'), { ...shapes, ...generation }, tokenizer);
  return { config, tokenizer };
}

function configOf(path: string, json: JsonObject, tokenizer: Tokenizer): WhisperConfig {
  if (json.model_type !== 'whisper') {
    throw new ModelFileError(MODEL, path, 'its "model_type" is not "whisper"');
  }
  const number = (name: string) => positiveInteger(path, json, name);
  const token = (content: string) => requiredToken(path, tokenizer, content);
  const languageTokens = json.is_multilingual === false ? new Map() : tokenizer.languageTokens();
  return {
    melCount: number('num_mel_bins'),
    modelSize: number('d_model'),
    positions: number('max_source_positions'),
    layers: number('decoder_layers'),
    heads: number('decoder_attention_heads'),
    vocabularySize: number('vocab_size'),
    maxTokens: number('max_target_positions'),
    endToken: token('<|endoftext|>'),
    startToken: token('<|startoftranscript|>'),
    noTimestampsToken: token('<|notimestamps|>'),
    transcribeToken: languageTokens.size > 0 ? token('<|transcribe|>') : undefined,
    noSpeechToken:
      tokenizer.specialToken('<|nospeech|>') ?? tokenizer.specialToken('<|nocaptions|>'),
    previousToken: tokenizer.specialToken('<|startofprev|>'),
    alignmentHeads: alignmentHeads(json.alignment_heads, {
      layers: number('decoder_layers'),
      heads: number('decoder_attention_heads'),
    }),
    languageTokens,
    suppressedTokens: tokenList(json.suppress_tokens),
    suppressedFirstTokens: tokenList(json.begin_suppress_tokens),
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

async function readJson(path: string): Promise<JsonObject> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

async function readOptionalJson(path: string): Promise<JsonObject> {
  try {
    return await readJson(path);
  } catch (error) {
    if (error instanceof ModelFileError && hasCode(error.cause, 'ENOENT')) return {};
    throw error;
  }
}

async function readTokenizer(path: string): Promise<Tokenizer> {
  const json = await readJson(path);
  try {
    return Tokenizer.parse(json);
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

function positiveInteger(path: string, json: JsonObject, name: string): number {
  const value = json[name];
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ModelFileError(MODEL, path, `its "${name}" is not a positive whole number`);
}

function requiredToken(path: string, tokenizer: Tokenizer, content: string): number {
  const id = tokenizer.specialToken(content);
  if (id !== undefined) return id;
  throw new ModelFileError(MODEL, path, `its "tokenizer.json" has no token "${content}"`);
}

function tokenList(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.filter((id) => Number.isInteger(id) && id >= 0) : [];
}

/** The valid heads of the model. */
function alignmentHeads(
  value: unknown,
  { layers, heads }: { readonly layers: number; readonly heads: number },
): readonly AttentionHead[] {
  if (!Array.isArray(value)) return [];
  const isBelow = (number: unknown, limit: number) =>
    Number.isInteger(number) && Number(number) >= 0 && Number(number) < limit;
  return value.filter(
    (pair): pair is AttentionHead =>
      Array.isArray(pair) && isBelow(pair[0], layers) && isBelow(pair[1], heads),
  );
}
