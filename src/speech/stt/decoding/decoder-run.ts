/** Autoregressive decoding on a merged decoder, token by token, over its key-value cache, with the choice of each token. */
import type { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../../../lib/onnx/model-file-error.ts';
import { openSession, Tensor } from '../../../lib/onnx/onnx-session.ts';

/** One head of one layer, by numbers from 0. */
export type AttentionHead = readonly [layer: number, head: number];

type Outputs = Readonly<Record<string, Tensor | undefined>>;

/** Keeps the cache of one transcription. */
export class DecoderRun {
  readonly #decoder: MergedDecoder;
  readonly #encoded: Tensor;
  readonly #heads: readonly AttentionHead[];
  readonly #fetches: readonly string[];
  /** Key-value cache by input name; empty before the first step. */
  #past: Readonly<Record<string, Tensor>> = {};
  #tokens = 0;
  /** Cross-attention for each token fed: heads times steps. */
  readonly #attentions: Float32Array[] = [];

  /**
   * @param encoded float32 [1, steps, modelSize].
   * @param heads whose cross-attention is kept; the decoder must have it as outputs.
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

  /** Cross-attention for each token fed: the weights of one head after the other's. */
  get attentions(): readonly Float32Array[] {
    return this.#attentions;
  }

  /**
   * Feeds the next tokens.
   *
   * @param tokens any number in the first step; one in later steps, because exports traced with a cache
   * have no causal mask for more.
   * @returns for each of them, the scores of the next token.
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

  /** Truncates the cache to the first `count` tokens. */
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
      // Later steps give a dummy for the encoder's cache.
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

/** First `count` steps of a tensor [1, heads, length, headSize]. */
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

/** One layer's key or value cache: its input and output name. */
interface DecoderCache {
  readonly past: string;
  readonly present: string;
  /** Whether it is computed in the first step only, from the encoder's output. */
  readonly isFixed: boolean;
}

export interface MergedDecoder {
  readonly session: InferenceSession;
  readonly shape: DecoderShape;
  readonly caches: readonly DecoderCache[];
  /** Whether it has cross-attention as outputs. */
  readonly hasAttentions: boolean;
}

/** An input of some exports: ones for all encoder positions. */
const ENCODER_MASK = 'encoder_attention_mask';

/**
 * Opens a decoder and checks its inputs and outputs against its configuration.
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

/** The output with one layer's cross-attention: float32 [1, heads, tokens, steps]. */
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

/** One row of the decoder's output: a score for every token. */
export type Logits = Float32Array;

interface TokenChoice {
  readonly token: number;
  /** Natural logarithm of its probability among the tokens that were allowed; 0 at most. */
  readonly logProbability: number;
}

/** Mask by token: 1 where it may be chosen, else 0. */
export type AllowedTokens = Uint8Array;

/** Lower scores vanish in a float32 sum. */
const SCORE_DISTANCE_MAX = 30;

/** Allows the tokens from 0 to `lastToken`, except suppressed ones. */
export function allowedTokens(limits: {
  readonly lastToken: number;
  readonly suppressed: readonly number[];
}): AllowedTokens {
  const allowed = new Uint8Array(limits.lastToken + 1).fill(1);
  for (const token of limits.suppressed) allowed[token] = 0;
  return allowed;
}

/** Takes the likeliest of the allowed tokens; the last one where none has a score. */
export function likeliestToken(logits: Logits, allowed: AllowedTokens): TokenChoice {
  let token = allowed.length - 1;
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < allowed.length; id += 1) {
    const logit = logits[id] as number;
    if (logit > highest && allowed[id] === 1) {
      highest = logit;
      token = id;
    }
  }

  const least = highest - SCORE_DISTANCE_MAX;
  let total = 0;
  for (let id = 0; id < allowed.length; id += 1) {
    const logit = logits[id] as number;
    if (logit > least && allowed[id] === 1) total += Math.exp(logit - highest);
  }
  return { token, logProbability: total === 0 ? Number.NEGATIVE_INFINITY : -Math.log(total) };
}

/** Probability of one token among all. */
export function probabilityOf(logits: Logits, token: number): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) highest = Math.max(highest, logit);
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - highest);
  return Math.exp((logits[token] ?? Number.NEGATIVE_INFINITY) - highest) / total;
}

/** The candidate with the highest score; undefined when there are none. */
export function likeliestOf<Name>(
  logits: Logits,
  candidates: ReadonlyMap<Name, number>,
): Name | undefined {
  let likeliest: Name | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [name, token] of candidates) {
    const logit = logits[token] ?? Number.NEGATIVE_INFINITY;
    if (logit > highest) [likeliest, highest] = [name, logit];
  }
  return likeliest;
}
