/** Writes Silero's layers as products over all calls of a run, where the export convolves call by call; pure */

import { type Branch, STATE_SIZE } from '../../src/speech/vad/silero/silero-detector.ts';
import { type NewNode, type NewTensor, writeModel } from './onnx/onnx-writer.ts';
import { type Convolution, type SileroLayers, SPECTRUM_FRAMES } from './silero-layers.ts';

interface Part {
  readonly nodes: readonly NewNode[];
  readonly tensors: readonly NewTensor[];
}

/**
 * A file with the inputs and outputs of Silero's own, for one rate:
 *
 * ```text
 * input [B, 288] ─ Pad [B, 320] ─┬─ [0, 256)  ─ frames 0, 2 [2B, 128] ─ spectrum [B, 2 * 65] ─┐
 *                                └─ [64, 320) ─ frames 1, 3 [2B, 128] ─ spectrum [B, 2 * 65] ─┴─ Gemm ─ Relu
 * ─ Gemm ─ Relu … ─ LSTM ─ Relu ─ Gemm ─ Sigmoid ─ output [B, 1]
 * ```
 *
 * A convolution over so few frames is one product with a matrix that is zero where a frame is out of a tap's reach:
 * a third more to multiply, and no data to move.
 */
export function sileroAsProducts(layers: SileroLayers, branch: Branch): Uint8Array<ArrayBuffer> {
  const parts = [
    framesPart(layers),
    ...HALVES.map((half) => spectrumPart(layers, half)),
    ...layers.convolutions.map((_, index) => convolutionPart(layers, index)),
    memoryPart(layers),
  ];
  return writeModel({
    name: `silero-${branch.rateHz}`,
    nodes: parts.flatMap(({ nodes }) => nodes),
    tensors: parts.flatMap(({ tensors }) => tensors),
    inputs: [
      { name: 'input', element: 'float32', dims: ['calls', lengthOf(branch)] },
      { name: 'state', element: 'float32', dims: [2, 'calls', STATE_SIZE] },
      { name: 'sr', element: 'int64', dims: [] },
    ],
    outputs: [
      { name: 'output', element: 'float32', dims: ['calls', 1] },
      { name: 'stateN', element: 'float32', dims: [2, 'calls', STATE_SIZE] },
    ],
  });
}

/** Frames overlap by half: every second one is adjacent to the one before. */
const HALVES = [0, 1] as const;

/** Frames of the spectrum in one half. */
const HALF_FRAMES = SPECTRUM_FRAMES / 2;

function lengthOf({ contextSamples, windowSamples }: Branch): number {
  return contextSamples + windowSamples;
}

/** Mirrors the end, and cuts the two halves out. */
function framesPart({ transformSamples }: SileroLayers): Part {
  const step = transformSamples / 2;
  const tensors = [
    int64('pads', [0, 0, 0, step / 2]),
    int64('time', [1]),
    int64('frame', [-1, transformSamples]),
    ...HALVES.flatMap((half) => [
      int64(`start${half}`, [half * step]),
      int64(`end${half}`, [half * step + HALF_FRAMES * transformSamples]),
    ]),
  ];
  const cuts = HALVES.flatMap((half) => [
    node('Slice', ['padded', `start${half}`, `end${half}`, 'time'], `cut${half}`),
    node('Reshape', [`cut${half}`, 'frame'], `frames${half}`),
  ]);
  return {
    nodes: [node('Pad', ['input', 'pads'], 'padded', { mode: 'reflect' }), ...cuts],
    tensors,
  };
}

/** Magnitudes of a half's frames, side by side for each call. */
function spectrumPart({ basis, bins, transformSamples }: SileroLayers, half: 0 | 1): Part {
  const named = (name: string) => `${name}${half}`;
  const shared = [
    float32('basis', [transformSamples, 2 * bins], transposed(basis, 2 * bins, transformSamples)),
    int64('halves', [bins, bins]),
    int64('by_call', [-1, HALF_FRAMES * bins]),
  ];
  return {
    nodes: [
      node('MatMul', [named('frames'), 'basis'], named('waves')),
      {
        type: 'Split',
        inputs: [named('waves'), 'halves'],
        outputs: [named('real'), named('imaginary')],
        attributes: { axis: 1 },
      },
      node('Mul', [named('real'), named('real')], named('real2')),
      node('Mul', [named('imaginary'), named('imaginary')], named('imaginary2')),
      node('Add', [named('real2'), named('imaginary2')], named('power')),
      node('Sqrt', [named('power')], named('magnitude')),
      node('Reshape', [named('magnitude'), 'by_call'], named('spectrum')),
    ],
    tensors: half === 0 ? shared : [],
  };
}

function convolutionPart({ convolutions }: SileroLayers, index: number): Part {
  const layer = convolutions[index] as Convolution;
  const named = (name: string) => `${name}_${index}`;
  const relu = node('Relu', [named('sum')], named('layer'));
  const width = layer.framesOut * layer.out;
  const bias = float32(named('bias'), [width], repeated(layer.bias, layer.framesOut));
  const framesOf = (frames: readonly number[], name: string) =>
    float32(named(name), [frames.length * layer.into, width], bandMatrix(layer, frames));
  if (index > 0) {
    const all = Array.from({ length: layer.framesIn }, (_, frame) => frame);
    const inputs = [`layer_${index - 1}`, named('weights'), named('bias')];
    return {
      nodes: [node('Gemm', inputs, named('sum')), relu],
      tensors: [framesOf(all, 'weights'), bias],
    };
  }
  return {
    nodes: [
      node('Gemm', ['spectrum0', named('even'), named('bias')], named('half')),
      node('Gemm', ['spectrum1', named('odd'), named('half')], named('sum')),
      relu,
    ],
    tensors: [framesOf([0, 2], 'even'), framesOf([1, 3], 'odd'), bias],
  };
}

/** [frames * into, framesOut * out]: what each frame in adds to each frame out. */
function bandMatrix(layer: Convolution, frames: readonly number[]): Float32Array {
  const { weights, out, into, taps, stride, padding, framesOut } = layer;
  const width = framesOut * out;
  const matrix = new Float32Array(frames.length * into * width);
  for (const [place, frame] of frames.entries()) {
    for (let frameOut = 0; frameOut < framesOut; frameOut += 1) {
      const tap = frame - frameOut * stride + padding;
      if (tap < 0 || tap >= taps) continue;
      for (let from = 0; from < into; from += 1) {
        const row = (place * into + from) * width + frameOut * out;
        for (let to = 0; to < out; to += 1) {
          matrix[row + to] = weights[(to * into + from) * taps + tap] as number;
        }
      }
    }
  }
  return matrix;
}

/** The recurrent layer over the one frame that is left, and the probability. */
function memoryPart({ convolutions, memory, last }: SileroLayers): Part {
  const gates = 4 * STATE_SIZE;
  const state = { type: 'Split', inputs: ['state', 'one_each'], attributes: { axis: 0 } };
  const lstm = ['x', 'w', 'r', 'b', '', 'hidden', 'cell'];
  return {
    nodes: [
      { ...state, outputs: ['hidden', 'cell'] },
      node('Unsqueeze', [`layer_${convolutions.length - 1}`, 'first'], 'x'),
      {
        type: 'LSTM',
        inputs: lstm,
        outputs: ['', 'hiddenN', 'cellN'],
        attributes: { hidden_size: STATE_SIZE },
      },
      node('Concat', ['hiddenN', 'cellN'], 'stateN', { axis: 0 }),
      node('Squeeze', ['hiddenN', 'first'], 'cached'),
      node('Relu', ['cached'], 'bent'),
      node('Gemm', ['bent', 'last_weights', 'last_bias'], 'score'),
      node('Sigmoid', ['score'], 'output'),
    ],
    tensors: [
      int64('one_each', [1, 1]),
      int64('first', [0]),
      float32('w', [1, gates, STATE_SIZE], memory.input),
      float32('r', [1, gates, STATE_SIZE], memory.recurrence),
      float32('b', [1, 2 * gates], memory.bias),
      float32('last_weights', [STATE_SIZE, 1], last.weights),
      float32('last_bias', [1], last.bias),
    ],
  };
}

function node(
  type: string,
  inputs: readonly string[],
  output: string,
  attributes: NewNode['attributes'] = {},
): NewNode {
  return { type, inputs, outputs: [output], attributes };
}

function float32(name: string, dims: readonly number[], values: Float32Array): NewTensor {
  return { name, dims, values };
}

function int64(name: string, values: readonly number[]): NewTensor {
  return { name, dims: [values.length], values: BigInt64Array.from(values, BigInt) };
}

function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  return Float32Array.from(
    values,
    (_, index) => values[(index % rows) * columns + Math.floor(index / rows)] as number,
  );
}

function repeated(values: Float32Array, times: number): Float32Array {
  return Float32Array.from(
    { length: values.length * times },
    (_, index) => values[index % values.length] as number,
  );
}
