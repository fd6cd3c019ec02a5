/** Whisper's encoder as Hugging Face's exports have it, with weights that mean nothing. */
import { type OnnxValue, onnxModel, uint8 } from '../../test/support/speech/onnx-file.ts';
import { GraphBuilder, type Precision, Weights } from './graph-builder.ts';

export interface WhisperSize {
  readonly modelSize: number;
  readonly heads: number;
  readonly layers: number;
  readonly hidden: number;
  readonly vocabulary: number;
  readonly melCount: number;
}

/** How the table of positions lies in the file; `free` slices it by itself, `baked` is fixed elsewhere too. */
export type TableForm = 'float' | 'half' | 'quantized' | 'constant' | 'gathered' | 'free' | 'baked';

const POSITIONS = 1500;

export interface EncoderOptions {
  readonly precision?: Precision;
  readonly table?: TableForm;
  readonly seed?: number;
  /** Default: 17. */
  readonly opset?: number;
}

/** `input_features` [B, mel, 3000] to `last_hidden_state` [B, 1500, d]. */
export function whisperEncoder(size: WhisperSize, options: EncoderOptions = {}): Uint8Array {
  const { precision = 'float32', table = 'float', seed = 1, opset = 17 } = options;
  const { modelSize, layers, hidden, melCount } = size;
  const graph = new GraphBuilder(new Weights(precision, seed));
  const { weights } = graph;
  const conv = (x: string, name: string, inputs: number, stride: number) => {
    const kernel = weights.random(name, [modelSize, inputs, 3], Math.sqrt(1 / inputs));
    const bias = weights.random(`${name}_bias`, [modelSize], 0.02);
    return graph.gelu(graph.op('Conv', [x, kernel, bias], CONV(stride)));
  };
  const heard = conv(conv('input_features', 'conv1', melCount, 1), 'conv2', modelSize, 2);
  const steps = graph.op('Transpose', [heard], { perm: [0, 2, 1] });
  let x = graph.op('Add', [steps, positionsOf(graph, table, modelSize, steps)]);
  for (let layer = 0; layer < layers; layer += 1) {
    const name = `encoder_${layer}`;
    const attended = selfAttention(graph, graph.norm(x, `${name}_norm1`, modelSize), name, size, {
      isBaked: table === 'baked',
    });
    x = graph.op('Add', [x, attended]);
    const thought = graph.feedForward(
      graph.norm(x, `${name}_norm2`, modelSize),
      name,
      modelSize,
      hidden,
    );
    x = graph.op('Add', [x, thought]);
  }
  graph.name(graph.norm(x, 'encoder_norm', modelSize), 'last_hidden_state');
  const isFree = table === 'free';
  const whole = {
    nodes: graph.nodes,
    inputs: [value('input_features', ['batch', melCount, isFree ? 'frames' : 2 * POSITIONS])],
    outputs: [value('last_hidden_state', ['batch', isFree ? 'steps' : POSITIONS, modelSize])],
    tensors: weights.tensors,
  };
  return onnxModel(whole, opset);
}

const CONV = (stride: number) => ({
  kernel_shape: [3],
  strides: [stride],
  pads: [1, 1],
  dilations: [1],
  group: 1,
});

/** The table, as its form has it; the numbers are the same in all but `half` and `quantized`. */
function positionsOf(graph: GraphBuilder, form: TableForm, modelSize: number, x: string): string {
  const { weights } = graph;
  const dims = [POSITIONS, modelSize];
  const floats = new Weights('float32', 99);
  const name = floats.random('embed_positions', dims, 0.3);
  const tensor = floats.tensors.find((one) => one.name === name);
  if (tensor === undefined) throw new Error('There is a table');
  const table = () => weights.add(tensor);
  switch (form) {
    case 'float':
    case 'baked':
      return table();
    case 'half':
      return graph.op('Cast', [graph.op('Cast', [table()], { to: 10 })], { to: 1 });
    case 'quantized': {
      const bytes = Uint8Array.from(tensor.bytes.subarray(0, POSITIONS * modelSize));
      const small = weights.add(uint8('embed_positions_quantized', dims, bytes));
      const scale = weights.floats('positions_scale', [], [0.002]);
      const zero = weights.add(uint8('positions_zero_point', [], [128]));
      return graph.op('DequantizeLinear', [small, scale, zero]);
    }
    case 'constant':
      return graph.op('Constant', [], { value: { tensor } });
    case 'gathered': {
      const rows = Array.from({ length: POSITIONS }, (_, row) => row);
      return graph.op('Gather', [table(), weights.integers(...rows)], { axis: 0 });
    }
    case 'free': {
      const length = graph.op('Slice', [graph.op('Shape', [x]), ...bounds(graph, 1, 2)]);
      return graph.op('Slice', [table(), weights.integers(0), length]);
    }
    default:
      return form satisfies never;
  }
}

function bounds(graph: GraphBuilder, start: number, end: number): readonly string[] {
  return [graph.weights.integers(start), graph.weights.integers(end)];
}

function selfAttention(
  graph: GraphBuilder,
  x: string,
  name: string,
  { modelSize, heads }: WhisperSize,
  { isBaked }: { readonly isBaked: boolean },
): string {
  const { weights } = graph;
  const split = weights.integers(0, isBaked ? POSITIONS : -1, heads, modelSize / heads);
  const [q, k, v] = ['q', 'k', 'v'].map((part) =>
    graph.splitHeads(graph.linear(x, `${name}_${part}`, modelSize, modelSize, part !== 'k'), split),
  );
  const { mixed } = graph.attention([q ?? '', k ?? '', v ?? ''], modelSize / heads);
  const joined = graph.joinHeads(mixed, weights.integers(0, -1, modelSize));
  return graph.linear(joined, `${name}_out`, modelSize, modelSize);
}

function value(name: string, dims: readonly (number | string)[]): OnnxValue {
  return { name, type: 'float32', dims };
}
