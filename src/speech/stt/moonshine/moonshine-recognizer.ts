/** Moonshine speech recognition: audio of any length without features, decoded greedily at each request. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';
import { graphPath } from '../../models/model-files.ts';
import { VoicedSpan } from '../../vad/vad-gate.ts';
import {
  type AllowedTokens,
  allowedTokens,
  DecoderRun,
  type MergedDecoder,
  openMergedDecoder,
} from '../decoding/decoder-run.ts';
import { decodeGreedily } from '../decoding/greedy-decoder.ts';
import { agreedWords, wordsOf } from '../decoding/word-times.ts';
import { MODEL_RATE_HZ } from '../features/log-mel.ts';
import { Upsampler } from '../features/resampler.ts';
import {
  AUDIO_MS_MIN,
  nothingHeard,
  type Recognition,
  type RecognizedWord,
  type Recognizer,
  type RecognizerOptions,
  type UtteranceStream,
} from '../pool/recognizer.ts';

/** Longer audio is cut. */
const SAMPLES_MAX = 30 * MODEL_RATE_HZ;

/** The model card's limit; a longer answer is a hallucination. */
const TOKENS_PER_SECOND_MAX = 6.5;

/**
 * Loads a Moonshine export. It is monolingual, takes no prompt, and does not detect silence, which voice activity detection
 * does. Word times divide the voiced span by the words' letters.
 *
 * @param modelPath its folder.
 * @throws {ModelFileError}
 */
export async function openRecognizer(
  modelPath: string,
  { threads = 1 }: RecognizerOptions = {},
): Promise<Recognizer> {
  const model = await loadMoonshineModel(modelPath, threads);
  return {
    open: () => new MoonshineStream(model),
    close: () => model.close(),
  };
}

class MoonshineStream implements UtteranceStream {
  readonly #model: MoonshineModel;
  readonly #upsampler = new Upsampler();
  readonly #voiced = new VoicedSpan();
  #samples = new Float32Array(2 * MODEL_RATE_HZ);
  #length = 0;
  #draft: readonly number[] = [];
  #words: readonly RecognizedWord[] = [];

  constructor(model: MoonshineModel) {
    this.#model = model;
  }

  push(pcm: Int16Array): void {
    this.#voiced.push(pcm);
    const wide = this.#upsampler.push(pcm).subarray(0, SAMPLES_MAX - this.#length);
    const length = this.#length + wide.length;
    if (length > this.#samples.length) {
      const grown = new Float32Array(Math.max(length, 2 * this.#samples.length));
      grown.set(this.#samples.subarray(0, this.#length));
      this.#samples = grown;
    }
    this.#samples.set(wide, this.#length);
    this.#length = length;
  }

  async transcribe({ signal }: Parameters<UtteranceStream['transcribe']>[0]): Promise<Recognition> {
    const audioMs = (this.#length * 1000) / MODEL_RATE_HZ;
    if (audioMs < AUDIO_MS_MIN) return nothingHeard('en', audioMs);
    signal.throwIfAborted();
    const { startToken, endToken, allowed, decoder, maxTokens, tokenizer } = this.#model;
    const run = new DecoderRun(decoder, await this.#encoded());
    const { tokens, meanLogProbability } = await decodeGreedily(run, {
      prefix: [startToken],
      draft: this.#draft,
      endToken,
      allowed,
      allowedFirst: allowed,
      tokensMax: Math.min(maxTokens - 1, Math.ceil((audioMs / 1000) * TOKENS_PER_SECOND_MAX) + 2),
      signal,
    });
    const ids = tokens.map(({ id }) => id);
    const words = wordsOf(tokenizer, tokens, { kind: 'span', ...this.#voiced.span });
    const agreed = agreedWords(words, this.#words);
    [this.#draft, this.#words] = [ids, words];
    return {
      ...nothingHeard('en', audioMs),
      text: tokenizer.decode(ids).trim(),
      words,
      confidence: Math.exp(meanLogProbability),
      agreedWords: agreed,
      noSpeechProbability: 0,
    };
  }

  async #encoded(): Promise<Tensor> {
    const heard = this.#samples.slice(0, this.#length);
    const values = new Tensor('float32', heard, [1, heard.length]);
    const masks = this.#model.encoder.inputNames.includes('attention_mask')
      ? {
          attention_mask: new Tensor(
            'int64',
            new BigInt64Array(heard.length).fill(1n),
            values.dims,
          ),
        }
      : {};
    const outputs = await this.#model.encoder.run({ input_values: values, ...masks });
    const encoded = outputs.last_hidden_state;
    if (encoded === undefined) throw new Error('The encoder gave no "last_hidden_state"');
    return encoded;
  }
}

const MODEL = 'speech model';

interface MoonshineModel {
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
async function loadMoonshineModel(modelDir: string, threads: number): Promise<MoonshineModel> {
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

/** Stands for a space within tokens. */
const SPACE = '▁';

/** Token of a byte that no text token has: `<0x0A>`. */
const BYTE = /^<0x([0-9A-F]{2})>$/;

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { readonly id: number; readonly special: boolean }[];
}

/** SentencePiece-like tokens to text. */
export class PieceTokenizer {
  readonly #pieces = new Map<number, string>();

  private constructor(file: TokenizerFile) {
    for (const [piece, id] of Object.entries(file.model.vocab)) this.#pieces.set(id, piece);
    for (const { id, special } of file.added_tokens) if (special) this.#pieces.delete(id);
  }

  /**
   * Takes `tokenizer.json` as parsed.
   *
   * @throws {TypeError} saying which part is missing.
   * @see huggingface/tokenizers: a BPE model with byte fallback behind a Metaspace decoder
   */
  static parse(json: unknown): PieceTokenizer {
    const { model, added_tokens: added } = (json ?? {}) as Partial<TokenizerFile>;
    if (typeof model?.vocab !== 'object' || model.vocab === null || !Array.isArray(added)) {
      throw new TypeError('expected "model.vocab" and "added_tokens" of a BPE tokenizer');
    }
    return new PieceTokenizer({ model, added_tokens: added });
  }

  /** Whether the token begins a new word. */
  startsWord(id: number): boolean {
    return this.#pieces.get(id)?.startsWith(SPACE) === true;
  }

  /** The tokens' text; special tokens have none. */
  decode(ids: readonly number[]): string {
    const bytes = ids.flatMap((id) => {
      const piece = this.#pieces.get(id) ?? '';
      const hex = BYTE.exec(piece)?.[1];
      if (hex !== undefined) return [Number.parseInt(hex, 16)];
      return [...new TextEncoder().encode(piece.replaceAll(SPACE, ' '))];
    });
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}
