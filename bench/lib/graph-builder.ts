/** Builds ONNX graphs of transformers, with weights that mean nothing: in float, or in 8 bits as `quantize_dynamic` writes them. */
import {
  float32,
  int8,
  int64,
  type OnnxAttribute,
  type OnnxNode,
  type OnnxTensor,
  randomWeights,
  seededChance,
} from '../../test/support/speech/onnx-file.ts';

export type Precision = 'float32' | 'int8';

/** Half of the width that random weights of a layer of `inputs` have: its output is about as large as its input. */
const scaleOf = (inputs: number) => Math.sqrt(3 / inputs);

/** The weights of one file; graphs within it share them. */
export class Weights {
  readonly precision: Precision;
  readonly #tensors = new Map<string, OnnxTensor>();
  readonly #chance: () => number;

  constructor(precision: Precision, seed: number) {
    this.precision = precision;
    this.#chance = seededChance(seed);
  }

  get tensors(): readonly OnnxTensor[] {
    return [...this.#tensors.values()];
  }

  /** Random floats, once for each name. */
  random(name: string, dims: readonly number[], scale: number): string {
    return this.#once(name, () => randomWeights(name, dims, this.#chance, scale));
  }

  floats(name: string, dims: readonly number[], values: ArrayLike<number>): string {
    return this.#once(name, () => float32(name, dims, values));
  }

  integers(...values: readonly number[]): string {
    const name = `int64_${values.join('_')}`;
    return this.#once(name, () => int64(name, [values.length], values));
  }

  add(tensor: OnnxTensor): string {
    return this.#once(tensor.name, () => tensor);
  }

  /** A matrix in 8 bits with its scale and zero point. */
  quantized(
    name: string,
    dims: readonly number[],
    scale: number,
  ): readonly [string, string, string] {
    const size = dims.reduce((product, dim) => product * dim, 1);
    const matrix = this.#once(`${name}_quantized`, () => {
      const values = new Int8Array(size);
      for (let index = 0; index < size; index += 1) values[index] = this.#chance() * 255 - 127;
      return int8(`${name}_quantized`, dims, values);
    });
    return [
      matrix,
      this.floats(`${name}_scale`, [], [scale / 127]),
      this.add(int8(`${name}_zero_point`, [], [0])),
    ];
  }

  #once(name: string, make: () => OnnxTensor): string {
    if (!this.#tensors.has(name)) this.#tensors.set(name, make());
    return name;
  }
}

/** Writes nodes one after the other; each method gives the name of what it computes. */
export class GraphBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly weights: Weights;
  readonly #prefix: string;

  constructor(weights: Weights, prefix = '') {
    this.weights = weights;
    this.#prefix = prefix;
  }

  op(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): string {
    return this.ops(op, inputs, 1, attributes)[0] ?? '';
  }

  /** A node with several outputs. */
  ops(
    op: string,
    inputs: readonly string[],
    count: number,
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): readonly string[] {
    const stem = `${this.#prefix}${op}_${this.nodes.length}`;
    const outputs = Array.from({ length: count }, (_, index) => `${stem}_${index}`);
    this.nodes.push({ op, inputs, outputs, attributes });
    return outputs;
  }

  /** Gives a value the name under which it leaves the graph. */
  name(value: string, name: string): string {
    this.nodes.push({ op: 'Identity', inputs: [value], outputs: [name] });
    return name;
  }

  /** `x` times a matrix [inputs, outputs], plus a bias. */
  linear(x: string, name: string, inputs: number, outputs: number, hasBias = true): string {
    const product = this.matmul(x, name, [inputs, outputs], scaleOf(inputs));
    if (!hasBias) return product;
    return this.op('Add', [product, this.weights.random(`${name}_bias`, [outputs], 0.02)]);
  }

  /** @see onnxruntime/quantization/operators/matmul.py, MatMulInteger */
  matmul(x: string, name: string, dims: readonly number[], scale: number): string {
    const { weights } = this;
    if (weights.precision === 'float32') {
      return this.op('MatMul', [x, weights.random(name, dims, scale)]);
    }
    const [matrix, matrixScale, zeroPoint] = weights.quantized(name, dims, scale);
    return this.integerProduct(x, matrix, matrixScale, zeroPoint);
  }

  integerProduct(x: string, matrix: string, matrixScale: string, zeroPoint: string): string {
    const [small = '', scale = '', zero = ''] = this.ops('DynamicQuantizeLinear', [x], 3);
    const sum = this.op('MatMulInteger', [small, matrix, zero, zeroPoint]);
    const scales = this.op('Mul', [scale, matrixScale]);
    return this.op('Mul', [this.op('Cast', [sum], { to: 1 }), scales]);
  }

  norm(x: string, name: string, size: number): string {
    const ones = this.weights.floats(`ones_${size}`, [size], new Float32Array(size).fill(1));
    const bias = this.weights.random(`${name}_bias`, [size], 0.02);
    return this.op('LayerNormalization', [x, ones, bias], { axis: -1 });
  }

  /** As PyTorch's exporter writes it before opset 20. */
  gelu(x: string): string {
    const root = this.weights.floats('root_2', [], [Math.SQRT2]);
    const one = this.weights.floats('one', [], [1]);
    const half = this.weights.floats('half', [], [0.5]);
    const erf = this.op('Erf', [this.op('Div', [x, root])]);
    const gate = this.op('Mul', [x, this.op('Add', [erf, one])]);
    return this.op('Mul', [gate, half]);
  }

  feedForward(x: string, name: string, size: number, hidden: number): string {
    const wide = this.gelu(this.linear(x, `${name}_fc1`, size, hidden));
    return this.linear(wide, `${name}_fc2`, hidden, size);
  }

  /** [B, T, d] to [B, heads, T, d / heads]. */
  splitHeads(x: string, shape: string): string {
    return this.op('Transpose', [this.op('Reshape', [x, shape])], { perm: [0, 2, 1, 3] });
  }

  joinHeads(x: string, shape: string): string {
    return this.op('Reshape', [this.op('Transpose', [x], { perm: [0, 2, 1, 3] }), shape]);
  }

  /** Softmax of queries times keys, times values; `mask` is added before the softmax. */
  attention(
    [q, k, v]: readonly [string, string, string],
    headSize: number,
    mask?: string,
  ): { readonly mixed: string; readonly shares: string } {
    const scale = this.weights.floats('attention_scale', [], [1 / Math.sqrt(headSize)]);
    const keys = this.op('Transpose', [k], { perm: [0, 1, 3, 2] });
    const scores = this.op('Mul', [this.op('MatMul', [q, keys]), scale]);
    const masked = mask === undefined ? scores : this.op('Add', [scores, mask]);
    const shares = this.op('Softmax', [masked], { axis: -1 });
    return { mixed: this.op('MatMul', [shares, v]), shares };
  }
}
