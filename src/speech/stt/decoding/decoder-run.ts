/** One pass through a decoder, token by token, over its key-value cache. */

import type { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../../models/model-file-error.ts';
import { Tensor } from '../../models/onnx-runtime.ts';
import { openSession } from '../../models/onnx-session.ts';
import type { Logits } from './token-choice.ts';

/** One head of one layer, by numbers from 0. */
export type AttentionHead = readonly [layer: number, head: number];

type Outputs = Readonly<Record<string, Tensor | undefined>>;

/** Keeps the cache of one transcription. */
export class DecoderRun {
  readonly #decoder: MergedDecoder;
  readonly #encoded: Tensor;
  readonly #heads: readonly AttentionHead[];
  readonly #fetches: readonly string[];
  /** By the name under which it goes in again; empty before the first step. */
  #past: Readonly<Record<string, Tensor>> = {};
  #tokens = 0;
  /** For each token fed, where each head listened: heads times steps. */
  readonly #attentions: Float32Array[] = [];

  /**
   * @param encoded float32 [1, steps, modelSize].
   * @param heads whose attention is kept; the decoder must tell it.
   */
  constructor(decoder: MergedDecoder, encoded: Tensor, heads: readonly AttentionHead[] = []) {
    this.#decoder = decoder;
    this.#encoded = encoded;
    this.#heads = heads;
    const layers = new Set(heads.map(([layer]) => attentionName(layer)));
    this.#fetches = ['logits', ...decoder.caches.map(({ present }) => present), ...layers];
  }

  /** Tokens fed so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** For each token fed, what the heads made of the encoder's steps: one head's shares after the other's. */
  get attentions(): readonly Float32Array[] {
    return this.#attentions;
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
    const { session } = this.#decoder;
    const outputs = await session.run(
      {
        input_ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
        encoder_hidden_states: this.#encoded,
        use_cache_branch: new Tensor('bool', [!isFirst], [1]),
        ...this.#mask(),
        ...(isFirst ? this.#emptyPast() : this.#past),
      },
      this.#fetches,
    );
    this.#keep(outputs, isFirst);
    this.#keepAttentions(outputs, tokens.length);
    this.#tokens += tokens.length;
    return rowsOf(outputs.logits, tokens.length);
  }

  /** Forgets all tokens but the first `count`. */
  truncate(count: number): void {
    const { heads, headSize } = this.#decoder.shape;
    const entries = this.#decoder.caches.map(({ past, isFixed }) => {
      const tensor = this.#past[past];
      if (tensor === undefined) throw new RangeError('Cannot forget before the first step');
      return [past, isFixed ? tensor : firstSteps(tensor, { heads, headSize, count })] as const;
    });
    this.#past = Object.fromEntries(entries);
    this.#attentions.length = Math.min(count, this.#attentions.length);
    this.#tokens = count;
  }

  #mask(): Readonly<Record<string, Tensor>> {
    if (!this.#decoder.session.inputNames.includes(ENCODER_MASK)) return {};
    const steps = this.#encoded.dims[1] ?? 0;
    const ones = new BigInt64Array(steps).fill(1n);
    return { [ENCODER_MASK]: new Tensor('int64', ones, [1, steps]) };
  }

  #emptyPast(): Readonly<Record<string, Tensor>> {
    const { heads, headSize } = this.#decoder.shape;
    const empty = new Tensor('float32', new Float32Array(0), [1, heads, 0, headSize]);
    return Object.fromEntries(this.#decoder.caches.map(({ past }) => [past, empty]));
  }

  #keep(outputs: Outputs, isFirst: boolean): void {
    const entries = this.#decoder.caches.map(({ past, present, isFixed }) => {
      // Later steps give a dummy for the encoder's part.
      const tensor = isFixed && !isFirst ? this.#past[past] : outputs[present];
      if (tensor === undefined) throw new Error(`Cannot decode: the model gave no "${present}"`);
      return [past, tensor] as const;
    });
    this.#past = Object.fromEntries(entries);
  }

  #keepAttentions(outputs: Outputs, count: number): void {
    if (this.#heads.length === 0) return;
    const steps = this.#encoded.dims[1] ?? 0;
    for (let row = 0; row < count; row += 1) {
      const shares = new Float32Array(this.#heads.length * steps);
      this.#heads.forEach(([layer, head], index) => {
        const all = outputs[attentionName(layer)]?.data as Float32Array;
        const start = (head * count + row) * steps;
        shares.set(all.subarray(start, start + steps), index * steps);
      });
      this.#attentions.push(shares);
    }
  }
}

/** Of [1, heads, length, headSize] the first `count` of the length. */
function firstSteps(
  tensor: Tensor,
  { heads, headSize, count }: { heads: number; headSize: number; count: number },
): Tensor {
  const data = tensor.data as Float32Array;
  const rowSize = (tensor.dims[2] ?? 0) * headSize;
  const kept = new Float32Array(heads * count * headSize);
  for (let head = 0; head < heads; head += 1) {
    const start = head * rowSize;
    kept.set(data.subarray(start, start + count * headSize), head * count * headSize);
  }
  return new Tensor('float32', kept, [1, heads, count, headSize]);
}

function rowsOf(logits: Tensor | undefined, count: number): readonly Logits[] {
  const width = logits?.dims[2] ?? 0;
  const data = logits?.data as Float32Array;
  return Array.from({ length: count }, (_, row) => data.subarray(row * width, (row + 1) * width));
}

interface DecoderShape {
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
}

/** What a layer remembers, under the name by which it goes in again. */
interface DecoderCache {
  readonly past: string;
  readonly present: string;
  /** The encoder's part is computed in the first step and stays. */
  readonly isFixed: boolean;
}

export interface MergedDecoder {
  readonly session: InferenceSession;
  readonly shape: DecoderShape;
  readonly caches: readonly DecoderCache[];
  /** Whether it tells which of the encoder's places each token comes from. */
  readonly hasAttentions: boolean;
}

/** Not every export has it: ones for all of the encoder's places. */
const ENCODER_MASK = 'encoder_attention_mask';

/**
 * Opens a decoder and compares its inputs and outputs with what its configuration says.
 *
 * @throws {ModelFileError}
 * @see huggingface/optimum: `decoder_model_merged` with `use_cache_branch`
 */
export async function openMergedDecoder(options: {
  readonly model: string;
  readonly path: string;
  readonly threads: number;
  readonly shape: DecoderShape;
}): Promise<MergedDecoder> {
  const { model, path, shape } = options;
  const session = await openSession(options);
  const caches = Array.from({ length: shape.layers }, (_, layer) => cachesOf(layer)).flat();
  const fault = faultOf(session, caches);
  if (fault !== null) {
    await session.release();
    throw new ModelFileError(model, path, fault);
  }
  const attentions = Array.from({ length: shape.layers }, (_, layer) => attentionName(layer));
  const hasAttentions = attentions.every((name) => session.outputNames.includes(name));
  return { session, shape, caches, hasAttentions };
}

/** The output that tells where one layer listened: float32 [1, heads, tokens, steps]. */
function attentionName(layer: number): string {
  return `cross_attentions.${layer}`;
}

function cachesOf(layer: number): readonly DecoderCache[] {
  return (['decoder', 'encoder'] as const).flatMap((part) =>
    (['key', 'value'] as const).map((kind) => ({
      past: `past_key_values.${layer}.${part}.${kind}`,
      present: `present.${layer}.${part}.${kind}`,
      isFixed: part === 'encoder',
    })),
  );
}

function faultOf(session: InferenceSession, caches: readonly DecoderCache[]): string | null {
  const given = ['input_ids', 'encoder_hidden_states', 'use_cache_branch'];
  const inputs = [...given, ...caches.map(({ past }) => past)];
  const unknown = session.inputNames.find(
    (name) => name !== ENCODER_MASK && !inputs.includes(name),
  );
  if (unknown !== undefined) return `it wants an input "${unknown}" that no such decoder has`;
  const outputs = ['logits', ...caches.map(({ present }) => present)];
  const missing = [
    ...inputs.filter((name) => !session.inputNames.includes(name)),
    ...outputs.filter((name) => !session.outputNames.includes(name)),
  ][0];
  return missing === undefined ? null : `it has no "${missing}": is it the merged decoder?`;
}
