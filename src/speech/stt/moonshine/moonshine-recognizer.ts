/** Moonshine as a recogniser: raw sound in, as long as it is, and a greedy decoder at each request. */

import type { RecognizedWord } from '../../hearing/hearing.ts';
import { Tensor } from '../../models/onnx-runtime.ts';
import { VoicedSpan } from '../../vad/voiced-span.ts';
import { DecoderRun } from '../decoding/decoder-run.ts';
import { decodeGreedily } from '../decoding/greedy-decoder.ts';
import { MODEL_RATE_HZ } from '../features/mel-filters.ts';
import { Upsampler } from '../features/upsampler.ts';
import type {
  Recognition,
  Recognizer,
  RecognizerOptions,
  UtteranceStream,
} from '../pool/recognizer.ts';
import { agreedWords, wordsOf } from '../pool/word-groups.ts';
import { loadMoonshineModel, type MoonshineModel } from './moonshine-model.ts';

/** Less than this is no word, and shorter than the encoder's first filters. */
const AUDIO_MS_MIN = 100;

/** What comes after is left out. */
const SAMPLES_MAX = 30 * MODEL_RATE_HZ;

/** The model card's own limit: what says more has lost its way. */
const TOKENS_PER_SECOND_MAX = 6.5;

/**
 * Loads a Moonshine export. It knows one language, takes no prompt, and cannot tell silence: the voice detector does.
 * Words get their share of the loud stretch by their letters.
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
    if (audioMs < AUDIO_MS_MIN) return nothingHeard(audioMs);
    signal.throwIfAborted();
    const { startToken, endToken, allowed, decoder, maxTokens, tokenizer } = this.#model;
    const run = new DecoderRun(decoder, await this.#encoded());
    const { tokens, meanLogProbability } = await decodeGreedily(run, {
      prefix: [startToken],
      draft: this.#draft,
      endToken,
      allowed,
      allowedFirst: allowed,
      tokensMax: Math.min(maxTokens - 1, tokenLimit(audioMs)),
      signal,
    });
    const ids = tokens.map(({ id }) => id);
    const words = wordsOf(tokenizer, tokens, { kind: 'span', ...this.#voiced.span });
    const agreed = agreedWords(words, this.#words);
    [this.#draft, this.#words] = [ids, words];
    return {
      ...nothingHeard(audioMs),
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

function tokenLimit(audioMs: number): number {
  return Math.ceil((audioMs / 1000) * TOKENS_PER_SECOND_MAX) + 2;
}

function nothingHeard(audioMs: number): Recognition {
  return { text: '', words: [], confidence: 0, language: 'en', noSpeechProbability: 1, audioMs };
}
