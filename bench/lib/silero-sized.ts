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
} from '../../test/support/speech/onnx-file.ts';
import {
  BIAS_SCALE,
  GAIN,
  memoryNodes,
  type Named,
  nodesOf,
  type Part,
  STATE_SIZE,
  type Weights,
} from './silero-memory.ts';

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

/**
 * The file's bytes; the same for the same `inputLength`.
 *
 * @param inputLength what the file says about context and window together: nothing, as Silero's own, or the length
 * of one rate, which makes the loader take that one.
 * @param edit makes another node of each, for a file that is laid out otherwise.
 * @see https://github.com/snakers4/silero-vad: 309,633 parameters at 16 kHz
 */
export function sileroSized(
  inputLength: number | 'samples' = 'samples',
  edit: (node: OnnxNode) => OnnxNode = (node) => node,
): Uint8Array {
  const chance = seededChance(5);
  const [narrow, wide] = RATES.map((rate) => branchOf(rate, chance)).map((branch) => ({
    ...branch,
    nodes: branch.nodes.map(edit),
  }));
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
    nodes: nodes.map(edit),
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
  return partsOf(rate, seededChance(5))
    .flatMap(({ tensors }) => tensors)
    .filter(({ type }) => type === 'float32')
    .reduce((sum, { bytes }) => sum + bytes.byteLength / Float32Array.BYTES_PER_ELEMENT, 0);
}

/** One rate, its numbers held by nodes, as the export's are. */
function branchOf(rate: Rate, chance: () => number): OnnxGraph {
  const parts = partsOf(rate, chance);
  const named = namesOf(rate);
  return {
    name: named('branch'),
    nodes: [
      ...parts.flatMap(({ tensors }) => tensors.map(constant)),
      ...parts.flatMap(({ nodes }) => nodes),
    ],
    inputs: [],
    outputs: [
      { name: named('probability'), type: 'float32', dims: ['calls', 1] },
      { name: named('next'), type: 'float32', dims: [2, 'calls', STATE_SIZE] },
    ],
    tensors: [],
  };
}

/** Fourier transform, four convolutions, a recurrent layer, and a last one that gives the probability. */
function partsOf(rate: Rate, chance: () => number): readonly Part[] {
  const named = namesOf(rate);
  const bins = rate.transformSamples / 2 + 1;
  const weights: Weights = (name, dims, scale) => randomWeights(named(name), dims, chance, scale);
  return [
    spectrumNodes(named, rate.transformSamples, bins),
    encoderNodes(named, weights, bins),
    memoryNodes(named, weights),
  ];
}

function namesOf({ rateHz }: Rate): Named {
  return (name) => `r${rateHz}_${name}`;
}

function constant(tensor: OnnxTensor): OnnxNode {
  return { op: 'Constant', inputs: [], outputs: [tensor.name], attributes: { value: { tensor } } };
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
