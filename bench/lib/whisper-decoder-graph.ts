/** Whisper's merged decoder as Hugging Face's exports have it, with weights that mean nothing. */
import {
  type OnnxGraph,
  type OnnxNode,
  type OnnxValue,
  onnxModel,
} from '../../test/support/speech/onnx-file.ts';
import { GraphBuilder, type Precision, Weights } from './graph-builder.ts';
import type { WhisperSize } from './whisper-encoder-graph.ts';

/** Places for text. */
const TEXT_POSITIONS = 448;

/** As good as never. */
const MASKED = -1e9;

export interface DecoderOptions {
  readonly precision?: Precision;
  readonly seed?: number;
  /** Whether the shares that attention gives to what was heard come out, as in `_timestamped` exports. */
  readonly hasAttentions?: boolean;
}

/** The merged decoder: one branch for the first step, one over the cache. */
export function whisperDecoder(size: WhisperSize, options: DecoderOptions = {}): Uint8Array {
  const { precision = 'float32', seed = 2, hasAttentions = false } = options;
  const weights = new Weights(precision, seed);
  const branches = [true, false].map((isCached) =>
    decoderBranch(weights, size, { isCached, hasAttentions }),
  );
  const [cached, first] = branches;
  if (cached === undefined || first === undefined) throw new Error('There are two branches');
  const names = first.outputs.map(({ name }) => name.replace('first_', ''));
  const choice: OnnxNode = {
    op: 'If',
    inputs: ['use_cache_branch'],
    outputs: names,
    attributes: { then_branch: { graph: cached }, else_branch: { graph: first } },
  };
  return onnxModel({
    nodes: [choice],
    inputs: [
      { name: 'input_ids', type: 'int64', dims: ['batch', 'tokens'] },
      value('encoder_hidden_states', ['batch', 'steps', size.modelSize]),
      ...layerNames(size.layers, 'past_key_values').map((name) =>
        value(name, ['batch', size.heads, `${name}_length`, size.modelSize / size.heads]),
      ),
      { name: 'use_cache_branch', type: 'bool', dims: [1] },
    ],
    outputs: names.map((name, index) =>
      value(
        name,
        index === 0 ? ['batch', 'tokens', size.vocabulary] : ['a', 'b', 'c', `d${index}`],
      ),
    ),
    tensors: weights.tensors,
  });
}

function layerNames(layers: number, stem: string): readonly string[] {
  return Array.from({ length: layers }, (_, layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map(
      (part) => `${stem}.${layer}.${part}`,
    ),
  ).flat();
}

function value(name: string, dims: readonly (number | string)[]): OnnxValue {
  return { name, type: 'float32', dims };
}

interface BranchOptions {
  readonly isCached: boolean;
  readonly hasAttentions: boolean;
}

/** What comes out of a layer besides its values: what the next step remembers, and where it listened. */
interface LayerMemory {
  readonly x: string;
  readonly present: readonly string[];
  readonly shares: string;
}

function decoderBranch(weights: Weights, size: WhisperSize, options: BranchOptions): OnnxGraph {
  const { isCached, hasAttentions } = options;
  const { modelSize, layers, vocabulary } = size;
  const prefix = isCached ? 'cached_' : 'first_';
  const graph = new GraphBuilder(weights, prefix);
  const steps = placeOf(graph, isCached);
  let x = graph.op('Add', [embedded(graph, size), positions(graph, modelSize, steps)]);
  const mask = isCached ? undefined : causalMask(graph, steps.length);
  const memories: LayerMemory[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    const memory = decoderLayer(graph, x, layer, size, mask);
    memories.push(memory);
    x = memory.x;
  }
  const scores = logits(graph, graph.norm(x, 'decoder_norm', modelSize), size);
  const outputs = [
    { name: 'logits', from: scores, dims: ['batch', 'tokens', vocabulary] },
    ...layerNames(layers, 'present').map((name, index) => ({
      name,
      from: memories[Math.floor(index / 4)]?.present[index % 4] ?? '',
      dims: ['b', 'h', 'l', 's'],
    })),
    ...memories.flatMap(({ shares }, layer) =>
      hasAttentions
        ? [{ name: `cross_attentions.${layer}`, from: shares, dims: ['b', 'h', 'l', 's'] }]
        : [],
    ),
  ];
  for (const { name, from } of outputs) graph.name(from, prefix + name);
  return {
    name: prefix,
    nodes: graph.nodes,
    inputs: [],
    outputs: outputs.map(({ name, dims }) => value(prefix + name, dims)),
    tensors: [],
  };
}

/** How many tokens were fed before, and how many are now, one number each. */
function placeOf(graph: GraphBuilder, isCached: boolean) {
  const { weights } = graph;
  const at = (x: string, axis: number) =>
    graph.op('Slice', [graph.op('Shape', [x]), weights.integers(axis), weights.integers(axis + 1)]);
  const length = at('input_ids', 1);
  const start = isCached ? at('past_key_values.0.decoder.key', 2) : weights.integers(0);
  return { start, length, end: graph.op('Add', [start, length]) };
}

function embedded(graph: GraphBuilder, { modelSize, vocabulary }: WhisperSize): string {
  const { weights } = graph;
  const dims = [vocabulary, modelSize];
  if (weights.precision === 'float32') {
    return graph.op('Gather', [weights.random('embed_tokens', dims, TOKEN_SCALE), 'input_ids']);
  }
  const [matrix, scale, zeroPoint] = weights.quantized('embed_tokens', dims, TOKEN_SCALE);
  const rows = graph.op('Gather', [matrix, 'input_ids']);
  return graph.op('DequantizeLinear', [rows, scale, zeroPoint]);
}

/** Tokens differ enough for what follows to depend on them. */
const TOKEN_SCALE = 0.5;

function positions(
  graph: GraphBuilder,
  modelSize: number,
  { start, end }: { readonly start: string; readonly end: string },
): string {
  const table = graph.weights.random('decoder_positions', [TEXT_POSITIONS, modelSize], 0.5);
  return graph.op('Slice', [table, start, end, graph.weights.integers(0)]);
}

function causalMask(graph: GraphBuilder, length: string): string {
  const { weights } = graph;
  const square = graph.op('Concat', [length, length], { axis: 0 });
  const masked = weights.floats('masked', [], [MASKED]);
  const full = graph.op('Expand', [masked, square]);
  return graph.op('Trilu', [full, weights.integers(1)], { upper: 1 });
}

/** The scores are made by the same matrix that embeds the tokens. */
function logits(graph: GraphBuilder, x: string, { modelSize, vocabulary }: WhisperSize): string {
  const { weights } = graph;
  const dims = [vocabulary, modelSize];
  if (weights.precision === 'float32') {
    const matrix = weights.random('embed_tokens', dims, TOKEN_SCALE);
    return graph.op('MatMul', [x, graph.op('Transpose', [matrix], { perm: [1, 0] })]);
  }
  const [matrix, scale, zeroPoint] = weights.quantized('embed_tokens', dims, TOKEN_SCALE);
  const turned = graph.op('Transpose', [matrix], { perm: [1, 0] });
  return graph.integerProduct(x, turned, scale, zeroPoint);
}

function decoderLayer(
  graph: GraphBuilder,
  input: string,
  layer: number,
  size: WhisperSize,
  mask: string | undefined,
): LayerMemory {
  const { modelSize, hidden } = size;
  const name = `decoder_${layer}`;
  const isCached = mask === undefined;
  const cached = (part: string) => `past_key_values.${layer}.${part}`;
  const attend = attentionOf(graph, name, size);
  const add = (x: string, more: string) => graph.op('Add', [x, more]);

  const own = graph.norm(input, `${name}_norm1`, modelSize);
  const grown = (part: 'key' | 'value') => {
    const now = attend.project(own, `self_${part}`);
    return isCached ? graph.op('Concat', [cached(`decoder.${part}`), now], { axis: 2 }) : now;
  };
  const ownMemory = [grown('key'), grown('value')] as const;
  const self = attend.run('self', own, ownMemory, mask);
  const said = add(input, self.x);

  const given = (part: 'key' | 'value') =>
    isCached ? cached(`encoder.${part}`) : attend.project('encoder_hidden_states', `cross_${part}`);
  const heardMemory = [given('key'), given('value')] as const;
  const cross = attend.run('cross', graph.norm(said, `${name}_norm2`, modelSize), heardMemory);
  const heard = add(said, cross.x);

  const rested = graph.norm(heard, `${name}_norm3`, modelSize);
  // As optimum merges them: what the encoder gave comes out of the first branch only.
  const kept = isCached ? [attend.nothing(), attend.nothing()] : heardMemory;
  return {
    x: add(heard, graph.feedForward(rested, name, modelSize, hidden)),
    present: [...ownMemory, ...kept],
    shares: cross.shares,
  };
}

/** Attention of one layer, to what was said or to what was heard. */
function attentionOf(graph: GraphBuilder, name: string, { modelSize, heads }: WhisperSize) {
  const { weights } = graph;
  const headSize = modelSize / heads;
  const split = weights.integers(0, -1, heads, headSize);
  const joined = weights.integers(0, -1, modelSize);
  const project = (x: string, part: string) => {
    const hasBias = !part.endsWith('key');
    const linear = graph.linear(x, `${name}_${part}`, modelSize, modelSize, hasBias);
    return graph.splitHeads(linear, split);
  };
  const run = (part: string, x: string, memory: readonly [string, string], mask?: string) => {
    const query = project(x, `${part}_query`);
    const { mixed, shares } = graph.attention([query, ...memory], headSize, mask);
    const together = graph.joinHeads(mixed, joined);
    return { x: graph.linear(together, `${name}_${part}_out`, modelSize, modelSize), shares };
  };
  const nothing = () =>
    graph.op('Expand', [weights.floats('zero', [], [0]), weights.integers(0, heads, 0, headSize)]);
  return { project, run, nothing };
}
