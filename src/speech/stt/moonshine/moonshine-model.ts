/** A Moonshine model in memory: its configuration, tokenizer and two graphs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import { graphPath } from '../../models/graph-path.ts';
import { ModelFileError } from '../../models/model-file-error.ts';
import { openSession } from '../../models/onnx-session.ts';
import { type MergedDecoder, openMergedDecoder } from '../decoding/merged-decoder.ts';
import { type AllowedTokens, allowedTokens } from '../decoding/token-choice.ts';
import { PieceTokenizer } from './piece-tokenizer.ts';

const MODEL = 'speech model';

export interface MoonshineModel {
  readonly tokenizer: PieceTokenizer;
  readonly encoder: InferenceSession;
  readonly decoder: MergedDecoder;
  readonly startToken: number;
  readonly endToken: number;
  /** Tokens that a transcript may have, the first one included. */
  readonly maxTokens: number;
  readonly allowed: AllowedTokens;
  close(): Promise<void>;
}

/**
 * Loads an export in Hugging Face's layout: `config.json`, `tokenizer.json`, `onnx/encoder_model*.onnx` and
 * `onnx/decoder_model_merged*.onnx`.
 *
 * @throws {ModelFileError}
 * @see huggingface/optimum: MoonshineOnnxConfig
 */
export async function loadMoonshineModel(
  modelDir: string,
  threads: number,
): Promise<MoonshineModel> {
  const configPath = join(modelDir, 'config.json');
  const json = await readJson(configPath, (parsed) => parsed as Readonly<Record<string, unknown>>);
  if (json.model_type !== 'moonshine') {
    throw new ModelFileError(MODEL, configPath, 'its "model_type" is not "moonshine"');
  }
  const number = (name: string) => wholeNumber(configPath, json, name);
  const tokenizer = await readJson(join(modelDir, 'tokenizer.json'), (parsed) =>
    PieceTokenizer.parse(parsed),
  );
  const heads = number('decoder_num_attention_heads');
  const path = graphPath(modelDir, 'encoder_model');
  const encoder = await openSession({ model: MODEL, path, threads });
  if (!encoder.inputNames.includes('input_values')) {
    throw new ModelFileError(MODEL, path, 'it has no "input_values"');
  }
  const decoder = await openMergedDecoder({
    model: MODEL,
    path: graphPath(modelDir, 'decoder_model_merged'),
    threads,
    shape: {
      layers: number('decoder_num_hidden_layers'),
      heads: 'decoder_num_key_value_heads' in json ? number('decoder_num_key_value_heads') : heads,
      headSize: number('hidden_size') / heads,
    },
  });
  const startToken = number('decoder_start_token_id');
  return {
    tokenizer,
    encoder,
    decoder,
    startToken,
    endToken: number('eos_token_id'),
    maxTokens: number('max_position_embeddings'),
    allowed: allowedTokens({ lastToken: number('vocab_size') - 1, suppressed: [startToken] }),
    close: async () => {
      await Promise.all([encoder.release(), decoder.session.release()]);
    },
  };
}

async function readJson<Value>(path: string, parse: (json: unknown) => Value): Promise<Value> {
  try {
    return parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    throw ModelFileError.from(MODEL, path, error);
  }
}

function wholeNumber(path: string, json: Readonly<Record<string, unknown>>, name: string): number {
  const value = json[name];
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ModelFileError(MODEL, path, `its "${name}" is not a positive whole number`);
}
