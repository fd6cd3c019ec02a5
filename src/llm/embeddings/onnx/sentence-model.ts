/** A sentence embedding model in Hugging Face's layout, on ONNX Runtime: a text in, its vector out. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { type InferenceSession, openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';

const MODEL = 'embedding model';

/** Best first: 8-bit weights take a third of the time. */
const GRAPHS = ['model_quantized.onnx', 'model.onnx'];

/** Tokens of one text. Longer ones are cut: attention costs the square of the length. */
const TOKENS_MAX = 512;

/** Longer texts have more than `TOKENS_MAX` tokens in any language; the rest is not worth splitting into words. */
const TEXT_CHARS_MAX = 20_000;

/** Inputs of BERT and its kin, the first of which is required. */
const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'];

const OUTPUT = 'last_hidden_state';

const configSchema = z.object({ max_position_embeddings: z.int().min(2).optional() });

const objectSchema = z.record(z.string(), z.unknown());

/** One text at a time. */
export interface SentenceModel {
  /** The mean of the tokens' vectors, scaled to the length 1. */
  vectorOf(text: string): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * @param folder holds `config.json`, `tokenizer.json`, `tokenizer_config.json` and `onnx/model_quantized.onnx` or
 *   `onnx/model.onnx`.
 * @throws {ModelFileError}
 * @see the card of intfloat/multilingual-e5-small: `input_ids`, `attention_mask`, `token_type_ids` int64 [1, T];
 *   `last_hidden_state` float32 [1, T, d]; mean pooling
 */
export async function openSentenceModel(
  folder: string,
  { threads }: { readonly threads: number },
): Promise<SentenceModel> {
  const config = await readJson(join(folder, 'config.json'), configSchema);
  const tokenizer = await readTokenizer(folder);
  const paths = GRAPHS.map((name) => join(folder, 'onnx', name));
  const path = paths.find((one) => existsSync(one)) ?? join(folder, 'onnx', 'model.onnx');
  const session = await openSession({ model: MODEL, path, threads });
  const fault = faultOf(session);
  if (fault !== undefined) {
    await session.release();
    throw new ModelFileError(MODEL, path, fault);
  }
  const tokensMax = Math.min(TOKENS_MAX, config.max_position_embeddings ?? TOKENS_MAX);
  return {
    vectorOf: async (text) => {
      const { ids } = tokenizer.encode(text.slice(0, TEXT_CHARS_MAX));
      return pooled(await hiddenStates(session, shortened(ids, tokensMax)));
    },
    close: () => session.release(),
  };
}

async function readTokenizer(folder: string): Promise<Tokenizer> {
  const path = join(folder, 'tokenizer.json');
  const tokenizer = await readJson(path, objectSchema);
  const config = await readJson(join(folder, 'tokenizer_config.json'), objectSchema);
  try {
    return new Tokenizer(tokenizer, config);
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

async function readJson<Content>(path: string, schema: z.ZodType<Content>): Promise<Content> {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    const isOfContent = error instanceof SyntaxError || error instanceof z.ZodError;
    const reason = isOfContent ? new Error('it has another form', { cause: error }) : error;
    throw ModelFileError.from(MODEL, path, reason);
  }
}

/** Fault that makes a graph unusable; undefined for one that can be used. */
function faultOf({ inputNames, outputNames }: InferenceSession): string | undefined {
  const other = inputNames.find((name) => !INPUTS.includes(name));
  if (other !== undefined) return `it has the input "${other}", which no such model has`;
  if (!inputNames.includes('input_ids')) return 'it has no input "input_ids"';
  return outputNames.includes(OUTPUT) ? undefined : `it has no output "${OUTPUT}"`;
}

/** The first tokens and the last, which ends every text. */
function shortened(ids: readonly number[], tokensMax: number): readonly number[] {
  return ids.length <= tokensMax ? ids : [...ids.slice(0, tokensMax - 1), ...ids.slice(-1)];
}

async function hiddenStates(session: InferenceSession, ids: readonly number[]): Promise<Tensor> {
  const tensorOf = (value: (id: number) => number) =>
    new Tensor(
      'int64',
      BigInt64Array.from(ids, (id) => BigInt(value(id))),
      [1, ids.length],
    );
  // A single text has no padding and no second sentence.
  const all: Readonly<Record<string, Tensor>> = {
    input_ids: tensorOf((id) => id),
    attention_mask: tensorOf(() => 1),
    token_type_ids: tensorOf(() => 0),
  };
  const feeds = Object.entries(all).filter(([name]) => session.inputNames.includes(name));
  const { [OUTPUT]: states } = await session.run(Object.fromEntries(feeds), [OUTPUT]);
  if (states === undefined) throw new Error(`the graph gave no "${OUTPUT}"`);
  return states;
}

/** @param states float32 [1, T, d]. */
function pooled({ data, dims }: Tensor): Float32Array {
  const [, tokens = 0, width = 0] = dims;
  if (!(data instanceof Float32Array) || data.length !== tokens * width || data.length === 0) {
    throw new Error(`"${OUTPUT}" is not float32 [1, tokens, width]`);
  }
  const sum = new Float32Array(width);
  for (let at = 0; at < data.length; at += 1) {
    sum[at % width] = (sum[at % width] ?? 0) + (data[at] ?? 0);
  }
  const length = Math.hypot(...sum);
  if (!(length > 0 && Number.isFinite(length))) throw new Error('the vector has no direction');
  return sum.map((value) => value / length);
}
