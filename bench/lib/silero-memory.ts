/** The recurrent end of a model of Silero's sizes, with its numbers laid out as PyTorch's exporter lays them. */
import { int64, type OnnxNode, type OnnxTensor } from '../../test/support/speech/onnx-file.ts';

export const STATE_SIZE = 128;

/** Names of the outer graph, and the name of nothing. */
const OUTER = new Set(['input', 'state', '']);

/** Such that speech moves every layer, and its probabilities lie on both sides of a half. */
export const GAIN = { encoder: 4, memory: 4, last: 16 } as const;
export const BIAS_SCALE = 0.2;

/** A stretch of the graph, with its numbers. */
export interface Part {
  readonly nodes: readonly OnnxNode[];
  readonly tensors: readonly OnnxTensor[];
}

/** Gives a value's name that of its branch. */
export type Named = (name: string) => string;
/** Makes weights of no meaning, from -`scale` to `scale`. */
export type Weights = (name: string, dims: readonly number[], scale: number) => OnnxTensor;

/** Makes nodes whose values are named for their branch; what comes from outside, and what is left out, stays. */
export function nodesOf(named: Named) {
  const nameOf = (name: string) => (OUTER.has(name) ? name : named(name));
  return (op: string, inputs: readonly string[], ...outputs: readonly string[]) => ({
    op,
    inputs: inputs.map(nameOf),
    outputs: outputs.map(named),
  });
}

/** The recurrent layer over the one frame that is left, and the probability. */
export function memoryNodes(named: Named, weights: Weights): Part {
  const node = nodesOf(named);
  const nodes: OnnxNode[] = [
    { ...node('Split', ['state', 'one_each'], 'hidden', 'cell'), attributes: { axis: 0 } },
    { ...node('Transpose', ['layer3'], 'frames'), attributes: { perm: [2, 0, 1] } },
    ...['w', 'r', 'wb', 'rb'].flatMap((name) => reordered(named, name)),
    { ...node('Concat', ['wb_iofc', 'rb_iofc'], 'b_iofc'), attributes: { axis: 0 } },
    ...['w', 'r', 'b'].map((name) => node('Unsqueeze', [`${name}_iofc`, 'first'], `${name}_one`)),
    {
      ...node('LSTM', [...LSTM_INPUTS], 'y', 'hiddenN', 'cellN'),
      attributes: { hidden_size: STATE_SIZE },
    },
    { ...node('Concat', ['hiddenN', 'cellN'], 'next'), attributes: { axis: 0 } },
    { ...node('Transpose', ['hiddenN'], 'columns'), attributes: { perm: [1, 2, 0] } },
    node('Relu', ['columns'], 'bent'),
    node('Conv', ['bent', 'last_w', 'last_b'], 'score'),
    node('Sigmoid', ['score'], 'chance'),
    node('Squeeze', ['chance', 'last_axis'], 'probability'),
  ];
  return { nodes, tensors: memoryTensors(named, weights) };
}

/** PyTorch's places of the gates, in the order in which ONNX wants them. */
const GATES = [
  { gate: 'in', place: 0 },
  { gate: 'out', place: 3 },
  { gate: 'forget', place: 1 },
  { gate: 'cell', place: 2 },
] as const;

const LSTM_INPUTS = ['frames', 'w_one', 'r_one', 'b_one', '', 'hidden', 'cell'] as const;

/** Cuts a tensor into its gates, and joins them in the other order. */
function reordered(named: Named, name: string): readonly OnnxNode[] {
  const node = nodesOf(named);
  const cuts = GATES.map(({ gate }) =>
    node('Slice', [name, `${gate}_start`, `${gate}_end`, 'first'], `${name}_${gate}`),
  );
  const parts = GATES.map(({ gate }) => `${name}_${gate}`);
  return [...cuts, { ...node('Concat', parts, `${name}_iofc`), attributes: { axis: 0 } }];
}

function memoryTensors(named: Named, weights: Weights): readonly OnnxTensor[] {
  const gates = GATES.length * STATE_SIZE;
  const perInput = Math.sqrt(STATE_SIZE);
  return [
    weights('w', [gates, STATE_SIZE], GAIN.memory / perInput),
    weights('r', [gates, STATE_SIZE], GAIN.memory / perInput),
    weights('wb', [gates], BIAS_SCALE),
    weights('rb', [gates], BIAS_SCALE),
    weights('last_w', [1, STATE_SIZE, 1], GAIN.last / perInput),
    weights('last_b', [1], BIAS_SCALE),
    int64(named('one_each'), [2], [1, 1]),
    int64(named('first'), [1], [0]),
    int64(named('last_axis'), [1], [2]),
    ...GATES.flatMap(({ gate, place }) => [
      int64(named(`${gate}_start`), [1], [place * STATE_SIZE]),
      int64(named(`${gate}_end`), [1], [(place + 1) * STATE_SIZE]),
    ]),
  ];
}
