/** Finds the layers of one rate in a file laid out as Silero's exports of version 5 and 6 are; pure */

import { type Branch, STATE_SIZE } from '../../src/speech/vad/silero/silero-detector.ts';
import { GraphConstants } from './onnx/onnx-constants.ts';
import { allNodes, type Graph, type GraphNode, graphsIn } from './onnx/onnx-graph.ts';

/** Frames of the transform in a window and its context. */
export const SPECTRUM_FRAMES = 4;

/** The file is laid out otherwise. */
export class SileroLayoutError extends Error {
  override readonly name = 'SileroLayoutError';
}

/** One convolution over time, with ReLU. */
export interface Convolution {
  /** [out, into, taps]. */
  readonly weights: Float32Array;
  readonly bias: Float32Array;
  readonly out: number;
  readonly into: number;
  readonly taps: number;
  readonly stride: number;
  /** Zeros before the first frame, and as many after the last. */
  readonly padding: number;
  readonly framesIn: number;
  readonly framesOut: number;
}

export interface SileroLayers {
  /** Samples that a frame of the spectrum is made of; half as many lie between two of them. */
  readonly transformSamples: number;
  readonly bins: number;
  /** [2 * bins, transformSamples]: real parts, then imaginary ones. */
  readonly basis: Float32Array;
  readonly convolutions: readonly Convolution[];
  /** As ONNX's LSTM takes them: [1, 4 * 128, 128] twice, and [1, 2 * 4 * 128]. */
  readonly memory: {
    readonly input: Float32Array;
    readonly recurrence: Float32Array;
    readonly bias: Float32Array;
  };
  /** [128], and one number. */
  readonly last: { readonly weights: Float32Array; readonly bias: Float32Array };
}

/**
 * Takes a branch of the file apart:
 *
 * ```text
 * Pad ─ Conv (Fourier transform) ─ magnitude ─ Conv, Relu … ─ LSTM ─ Relu ─ Conv [1, 128, 1] ─ Sigmoid
 * ```
 *
 * Only numbers and sizes are looked at here. Whether the same comes out in the end has to be tried.
 *
 * @throws {SileroLayoutError} naming the missing part.
 */
export function readSileroLayers(graph: Graph, branch: Branch): SileroLayers {
  const transformSamples = branch.windowSamples / 2;
  const constants = new GraphConstants(graph);
  const part = branchOf(graph, transformSamples, constants);
  const [transform, ...others] = part.nodes.filter(isConvolution);
  const last = others.pop();
  if (transform === undefined || last === undefined)
    throw new SileroLayoutError('it has too few convolutions');

  const basis = weightsOf(transform, constants);
  const bins = (basis.dims[0] ?? 0) / 2;
  need(strideOf(transform) === transformSamples / 2, 'its spectrum has other steps');
  need(Number.isInteger(bins) && basis.dims[1] === 1, 'its spectrum has other bins');
  return {
    transformSamples,
    bins,
    basis: basis.values,
    convolutions: convolutionsOf(others, bins, constants),
    memory: memoryOf(part, constants),
    last: lastOf(last, constants),
  };
}

/** The graph, or one directly in it, whose first convolution is as long as the transform of the rate. */
function branchOf(graph: Graph, transformSamples: number, constants: GraphConstants): Graph {
  const found = [graph, ...graph.nodes.flatMap(graphsIn)].find(({ nodes }) => {
    const name = nodes.find(isConvolution)?.inputs[1] ?? '';
    return constants.valueOf(name)?.dims[2] === transformSamples;
  });
  if (found === undefined) throw new SileroLayoutError('it has no spectrum of that length');
  return found;
}

function isConvolution({ type }: GraphNode): boolean {
  return type === 'Conv';
}

function convolutionsOf(
  nodes: readonly GraphNode[],
  bins: number,
  constants: GraphConstants,
): readonly Convolution[] {
  const convolutions: Convolution[] = [];
  for (const node of nodes) {
    const before = convolutions.at(-1);
    const framesIn = before?.framesOut ?? SPECTRUM_FRAMES;
    convolutions.push(convolutionOf(node, { into: before?.out ?? bins, framesIn }, constants));
  }
  const end = convolutions.at(-1);
  need(end?.framesOut === 1 && end.out === STATE_SIZE, 'its convolutions end otherwise');
  return convolutions;
}

function convolutionOf(
  node: GraphNode,
  { into, framesIn }: { readonly into: number; readonly framesIn: number },
  constants: GraphConstants,
): Convolution {
  const { dims, values } = weightsOf(node, constants);
  const [out = 0, channels, taps = 0] = dims;
  const bias = constants.valueOf(node.inputs[2] ?? '')?.values;
  const stride = strideOf(node);
  const [padding = 0, after = 0] = node.attributes.get('pads')?.numbers ?? [];
  need(dims.length === 3 && channels === into, 'its convolutions do not follow each other');
  need(padding === after && isPlain(node), 'a convolution is of another kind');
  if (bias?.length !== out) throw new SileroLayoutError('a convolution has no bias');
  const framesOut = Math.floor((framesIn + 2 * padding - taps) / stride) + 1;
  return { weights: values, bias, out, into, taps, stride, padding, framesIn, framesOut };
}

/** Neither in groups nor with gaps. */
function isPlain({ attributes }: GraphNode): boolean {
  const group = attributes.get('group')?.numbers[0] ?? 1;
  const gap = attributes.get('dilations')?.numbers[0] ?? 1;
  const automatic = attributes.get('auto_pad')?.text ?? 'NOTSET';
  return group === 1 && gap === 1 && automatic === 'NOTSET';
}

function strideOf({ attributes }: GraphNode): number {
  return attributes.get('strides')?.numbers[0] ?? 1;
}

/** The exports have several, for a state that is given and one that is not, with the same numbers. */
function memoryOf(part: Graph, constants: GraphConstants): SileroLayers['memory'] {
  const node = allNodes(part).find(({ type }) => type === 'LSTM');
  if (node === undefined) throw new SileroLayoutError('it has no recurrent layer');
  const gates = 4 * STATE_SIZE;
  const [input, recurrence, bias] = node.inputs
    .slice(1, 4)
    .map((name) => constants.valueOf(name)?.values);
  const isWhole =
    input?.length === gates * STATE_SIZE &&
    recurrence?.length === gates * STATE_SIZE &&
    bias?.length === 2 * gates;
  if (!isWhole) throw new SileroLayoutError('its recurrent layer is of another kind');
  return { input, recurrence, bias };
}

function lastOf(node: GraphNode, constants: GraphConstants): SileroLayers['last'] {
  const { values: weights } = weightsOf(node, constants);
  const bias = constants.valueOf(node.inputs[2] ?? '')?.values;
  if (weights.length !== STATE_SIZE || bias?.length !== 1) {
    throw new SileroLayoutError('its last layer is of another kind');
  }
  return { weights, bias };
}

function weightsOf(node: GraphNode, constants: GraphConstants) {
  const weights = constants.valueOf(node.inputs[1] ?? '');
  if (weights === null) throw new SileroLayoutError('a convolution has no weights of its own');
  return weights;
}

function need(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new SileroLayoutError(otherwise);
}
