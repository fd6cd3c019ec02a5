/** The configuration of a Whisper export, from its JSON files. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import type { AttentionHead } from '../decoding/decoder-run.ts';
import { Tokenizer } from './tokenizer.ts';

const MODEL = 'speech model';

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
    const cause = error instanceof ModelFileError ? error.cause : undefined;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
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
