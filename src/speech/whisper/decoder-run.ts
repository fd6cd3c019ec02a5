/** One pass through Whisper's decoder, token by token, over its key-value cache. */
import { Tensor } from 'onnxruntime-node';
import type { Logits } from './token-choice.ts';
import { cacheNames, type EncodedAudio, type WhisperModel } from './whisper-model.ts';

/** Keeps the cache of one transcription. */
export class DecoderRun {
  readonly #model: WhisperModel;
  readonly #encoded: EncodedAudio;
  readonly #caches: readonly ReturnType<typeof cacheNames>[number][];
  /** By the name under which it goes in again; empty before the first step. */
  #past: Readonly<Record<string, Tensor>> = {};
  #tokens = 0;

  constructor(model: WhisperModel, encoded: EncodedAudio) {
    this.#model = model;
    this.#encoded = encoded;
    this.#caches = Array.from({ length: model.config.layers }, (_, layer) =>
      cacheNames(layer),
    ).flat();
  }

  /** Tokens fed so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /**
   * Feeds the next tokens.
   *
   * @param tokens any number in the first step; one in later steps, because exports traced with a cache
   * have no causal mask for more.
   * @returns scores for what follows each of them.
   */
  async step(tokens: readonly number[]): Promise<readonly Logits[]> {
    const isFirst = this.#tokens === 0;
    const outputs = await this.#model.decoder.run(
      {
        input_ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
        encoder_hidden_states: this.#encoded,
        use_cache_branch: new Tensor('bool', [!isFirst], [1]),
        ...(isFirst ? this.#emptyPast() : this.#past),
      },
      ['logits', ...this.#caches.map(({ present }) => present)],
    );
    this.#keep(outputs, isFirst);
    this.#tokens += tokens.length;
    return this.#rows(outputs.logits, tokens.length);
  }

  #emptyPast(): Readonly<Record<string, Tensor>> {
    const { heads, modelSize } = this.#model.config;
    const empty = new Tensor('float32', new Float32Array(0), [1, heads, 0, modelSize / heads]);
    return Object.fromEntries(this.#caches.map(({ past }) => [past, empty]));
  }

  #keep(outputs: Readonly<Record<string, Tensor | undefined>>, isFirst: boolean): void {
    const entries = this.#caches.map(({ past, present, isFixed }) => {
      // Later steps give a dummy for the encoder's part.
      const tensor = isFixed && !isFirst ? this.#past[past] : outputs[present];
      if (tensor === undefined) throw new Error(`Cannot decode: the model gave no "${present}"`);
      return [past, tensor] as const;
    });
    this.#past = Object.fromEntries(entries);
  }

  #rows(logits: Tensor | undefined, count: number): readonly Logits[] {
    const width = logits?.dims[2] ?? 0;
    const data = logits?.data as Float32Array;
    return Array.from({ length: count }, (_, row) => data.subarray(row * width, (row + 1) * width));
  }
}
