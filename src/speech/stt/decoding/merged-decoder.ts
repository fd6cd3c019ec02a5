/** A decoder as Hugging Face's exports merge it: one graph with a branch for the first step and one over the cache. */
import type { InferenceSession } from 'onnxruntime-node';
import { ModelFileError } from '../../models/model-file-error.ts';
import { openSession } from '../../models/onnx-session.ts';

export interface DecoderShape {
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
}

/** What a layer remembers, under the name by which it goes in again. */
export interface DecoderCache {
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
export const ENCODER_MASK = 'encoder_attention_mask';

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
export function attentionName(layer: number): string {
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
