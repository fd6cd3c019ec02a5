/** A model with Silero v5's own layers and sizes, its two rates under one `If`, and weights that mean nothing. */
import {
  float32,
  int64,
  type OnnxGraph,
  type OnnxNode,
  type OnnxTensor,
  onnxModel,
  randomWeights,
  seededChance,
} from '../../test/support/onnx-file.ts';

const STATE_SIZE = 128;

/** A branch by its Fourier transform: half as long at half the rate, so that both see four frames a window. */
const RATES = [
  { rateHz: 8000, transformSamples: 128 },
  { rateHz: 16_000, transformSamples: 256 },
] as const;

type Rate = (typeof RATES)[number];

/** Input and output channels are Silero's; the first takes the bins of the transform. */
const ENCODER = [
  { out: 128, stride: 1 },
  { out: 64, stride: 2 },
  { out: 64, stride: 2 },
  { out: 128, stride: 1 },
] as const;

/** Names of the outer graph, and the name of nothing. */
const OUTER = new Set(['input', 'state', '']);

/** Such that speech moves every layer, and its probabilities lie on both sides of a half. */
const GAIN = { encoder: 4, memory: 4, last: 16 } as const;
const BIAS_SCALE = 0.2;

/**
 * The file's bytes; the same for the same `inputLength`.
 *
 * @param inputLength what the file says about context and window together: nothing, as Silero's own, or the length
 * of one rate, which makes the loader take that one.
 * @see https://github.com/snakers4/silero-vad: 309,633 parameters at 16 kHz
 */
export function sileroSized(inputLength: number | 'samples' = 'samples'): Uint8Array {
  const chance = seededChance(5);
  const [narrow, wide] = RATES.map((rate) => branchOf(rate, chance));
  if (narrow === undefined || wide === undefined) throw new Error('Silero has two rates');
  const nodes: OnnxNode[] = [
    { op: 'Equal', inputs: ['sr', 'wide_rate'], outputs: ['is_wide'] },
    {
      op: 'If',
      inputs: ['is_wide'],
      outputs: ['output', 'stateN'],
      attributes: { then_branch: { graph: wide }, else_branch: { graph: narrow } },
    },
  ];
  return onnxModel({
    nodes,
    inputs: [
      { name: 'input', type: 'float32', dims: ['calls', inputLength] },
      { name: 'state', type: 'float32', dims: [2, 'calls', STATE_SIZE] },
      { name: 'sr', type: 'int64', dims: [] },
    ],
    outputs: [
      { name: 'output', type: 'float32', dims: ['calls', 1] },
      { name: 'stateN', type: 'float32', dims: [2, 'calls', STATE_SIZE] },
    ],
    tensors: [int64('wide_rate', [], [16_000])],
  });
}

/** How many numbers the branch of a rate has learnt in Silero, its fixed Fourier transform among them. */
export function parametersOf(rateHz: Rate['rateHz']): number {
  const rate = RATES.find((one) => one.rateHz === rateHz);
  if (rate === undefined) throw new RangeError(`Silero does not hear ${rateHz} Hz`);
  return branchOf(rate, seededChance(5))
    .tensors.filter(({ type }) => type === 'float32')
    .reduce((sum, { bytes }) => sum + bytes.byteLength / Float32Array.BYTES_PER_ELEMENT, 0);
}

/** One rate: Fourier transform, four convolutions, a recurrent layer, and a last one that gives the probability. */
function branchOf({ rateHz, transformSamples }: Rate, chance: () => number): OnnxGraph {
  const prefix = `r${rateHz}_`;
  const bins = transformSamples / 2 + 1;
  const named = (name: string) => prefix + name;
  const weights: Weights = (name, dims, scale) => randomWeights(named(name), dims, chance, scale);
  const spectrum = spectrumNodes(named, transformSamples, bins);
  const encoder = encoderNodes(named, weights, bins);
  const memory = memoryNodes(named, weights);
  return {
    name: named('branch'),
    nodes: [...spectrum.nodes, ...encoder.nodes, ...memory.nodes],
    inputs: [],
    outputs: [
      { name: named('probability'), type: 'float32', dims: ['calls', 1] },
      { name: named('next'), type: 'float32', dims: [2, 'calls', STATE_SIZE] },
    ],
    tensors: [...spectrum.tensors, ...encoder.tensors, ...memory.tensors],
  };
}

interface Part {
  readonly nodes: readonly OnnxNode[];
  readonly tensors: readonly OnnxTensor[];
}

type Named = (name: string) => string;
type Weights = (name: string, dims: readonly number[], scale: number) => OnnxTensor;

/** Makes nodes whose values are named for their branch; what comes from outside, and what is left out, stays. */
function nodesOf(named: Named) {
  const nameOf = (name: string) => (OUTER.has(name) ? name : named(name));
  return (op: string, inputs: readonly string[], ...outputs: readonly string[]) => ({
    op,
    inputs: inputs.map(nameOf),
    outputs: outputs.map(named),
  });
}

/** Magnitudes of a windowed Fourier transform, by a convolution over the audio, mirrored at its end. */
function spectrumNodes(named: Named, samples: number, bins: number): Part {
  const node = nodesOf(named);
  const tensors = [
    int64(named('pads'), [6], [0, 0, 0, 0, 0, samples / 4]),
    int64(named('channel'), [1], [1]),
    float32(named('basis'), [2 * bins, 1, samples], fourierBasis(samples, bins)),
    int64(named('halves'), [2], [bins, bins]),
  ];
  const nodes: OnnxNode[] = [
    node('Unsqueeze', ['input', 'channel'], 'mono'),
    { ...node('Pad', ['mono', 'pads'], 'padded'), attributes: { mode: 'reflect' } },
    {
      ...node('Conv', ['padded', 'basis'], 'waves'),
      attributes: { kernel_shape: [samples], strides: [samples / 2] },
    },
    { ...node('Split', ['waves', 'halves'], 'real', 'imaginary'), attributes: { axis: 1 } },
    node('Mul', ['real', 'real'], 'real2'),
    node('Mul', ['imaginary', 'imaginary'], 'imaginary2'),
    node('Add', ['real2', 'imaginary2'], 'power'),
    node('Sqrt', ['power'], 'spectrum'),
  ];
  return { nodes, tensors };
}

function fourierBasis(samples: number, bins: number): Float32Array {
  const basis = new Float32Array(2 * bins * samples);
  for (let bin = 0; bin < bins; bin += 1) {
    for (let sample = 0; sample < samples; sample += 1) {
      const angle = (2 * Math.PI * bin * sample) / samples;
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * sample) / samples);
      basis[bin * samples + sample] = Math.cos(angle) * window;
      basis[(bins + bin) * samples + sample] = -Math.sin(angle) * window;
    }
  }
  return basis;
}

function encoderNodes(named: Named, weights: Weights, bins: number): Part {
  const layers = ENCODER.map(({ out, stride }, index) => {
    const from = index === 0 ? 'spectrum' : `layer${index - 1}`;
    const into = ENCODER[index - 1]?.out ?? bins;
    const scale = GAIN.encoder / Math.sqrt(3 * into);
    const tensors = [
      weights(`w${index}`, [out, into, 3], scale),
      weights(`b${index}`, [out], BIAS_SCALE),
    ];
    const inputs = [from, `w${index}`, `b${index}`].map(named);
    const attributes = { kernel_shape: [3], strides: [stride], pads: [1, 1] };
    const nodes: OnnxNode[] = [
      { op: 'Conv', inputs, outputs: [named(`conv${index}`)], attributes },
      { op: 'Relu', inputs: [named(`conv${index}`)], outputs: [named(`layer${index}`)] },
    ];
    return { nodes, tensors };
  });
  return {
    nodes: layers.flatMap(({ nodes }) => nodes),
    tensors: layers.flatMap(({ tensors }) => tensors),
  };
}

/** The recurrent layer over the one frame that is left, and the probability. */
function memoryNodes(named: Named, weights: Weights): Part {
  const node = nodesOf(named);
  const gates = 4 * STATE_SIZE;
  const perInput = Math.sqrt(STATE_SIZE);
  const tensors = [
    weights('w', [1, gates, STATE_SIZE], GAIN.memory / perInput),
    weights('r', [1, gates, STATE_SIZE], GAIN.memory / perInput),
    weights('b', [1, 2 * gates], BIAS_SCALE),
    weights('last_w', [1, STATE_SIZE, 1], GAIN.last / perInput),
    weights('last_b', [1], BIAS_SCALE),
    int64(named('one_each'), [2], [1, 1]),
    int64(named('last_axis'), [1], [2]),
  ];
  const nodes: OnnxNode[] = [
    { ...node('Split', ['state', 'one_each'], 'hidden', 'cell'), attributes: { axis: 0 } },
    { ...node('Transpose', ['layer3'], 'frames'), attributes: { perm: [2, 0, 1] } },
    {
      ...node('LSTM', ['frames', 'w', 'r', 'b', '', 'hidden', 'cell'], 'y', 'hiddenN', 'cellN'),
      attributes: { hidden_size: STATE_SIZE },
    },
    { ...node('Concat', ['hiddenN', 'cellN'], 'next'), attributes: { axis: 0 } },
    { ...node('Transpose', ['hiddenN'], 'columns'), attributes: { perm: [1, 2, 0] } },
    node('Relu', ['columns'], 'bent'),
    node('Conv', ['bent', 'last_w', 'last_b'], 'score'),
    node('Sigmoid', ['score'], 'chance'),
    node('Squeeze', ['chance', 'last_axis'], 'probability'),
  ];
  return { nodes, tensors };
}
