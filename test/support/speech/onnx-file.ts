/** Writes ONNX models from scratch: for graphs of real shapes with weights that mean nothing. */

/**
 * Element types by their numbers in the format.
 *
 * @see onnx/onnx.proto, TensorProto.DataType
 */
export const ELEMENT = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
} as const;

export type ElementName = keyof typeof ELEMENT;

/** A tensor's values as they lie in memory, little-endian. */
export interface OnnxTensor {
  readonly name: string;
  readonly type: ElementName;
  readonly dims: readonly number[];
  readonly bytes: Uint8Array;
}

/** What goes in or out; a name instead of a number is a length known only at run time. */
export interface OnnxValue {
  readonly name: string;
  readonly type: ElementName;
  readonly dims: readonly (number | string)[];
}

/** Numbers that are whole are written as INT: give `{ float: 1 }` where the operator wants a FLOAT. */
export type OnnxAttribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly floats: readonly number[] }
  | { readonly tensor: OnnxTensor }
  | { readonly graph: OnnxGraph };

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** Such as `com.microsoft`; ONNX's own when not given. */
  readonly domain?: string;
}

export interface OnnxGraph {
  readonly name?: string;
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly tensors: readonly OnnxTensor[];
}

/** A whole file. `opset` is that of ONNX's own operators. */
export function onnxModel(graph: OnnxGraph, opset = 17): Uint8Array<ArrayBuffer> {
  const domains = new Set(
    graph.nodes.flatMap(({ domain }) => (domain === undefined ? [] : domain)),
  );
  return join([
    integer(1, 8),
    text(2, 'offhook'),
    message(7, graphOf(graph)),
    message(8, join([text(1, ''), integer(2, opset)])),
    ...[...domains].map((domain) => message(8, join([text(1, domain), integer(2, 1)]))),
  ]);
}

export function float32(
  name: string,
  dims: readonly number[],
  values: ArrayLike<number>,
): OnnxTensor {
  return { name, type: 'float32', dims, bytes: bytesOf(checked(Float32Array.from(values), dims)) };
}

export function int64(
  name: string,
  dims: readonly number[],
  values: readonly number[],
): OnnxTensor {
  const numbers = BigInt64Array.from(values, (value) => BigInt(value));
  return { name, type: 'int64', dims, bytes: bytesOf(checked(numbers, dims)) };
}

export function int8(name: string, dims: readonly number[], values: ArrayLike<number>): OnnxTensor {
  return { name, type: 'int8', dims, bytes: bytesOf(checked(Int8Array.from(values), dims)) };
}

export function uint8(
  name: string,
  dims: readonly number[],
  values: ArrayLike<number>,
): OnnxTensor {
  return { name, type: 'uint8', dims, bytes: checked(Uint8Array.from(values), dims) };
}

/** A source of chance that gives the same numbers for the same seed: mulberry32, from 0 to 1. */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random weights, even between -`scale` and `scale`. */
export function randomWeights(
  name: string,
  dims: readonly number[],
  chance: () => number,
  scale = 0.05,
): OnnxTensor {
  const values = new Float32Array(sizeOf(dims));
  for (let index = 0; index < values.length; index += 1) {
    values[index] = (chance() * 2 - 1) * scale;
  }
  return { name, type: 'float32', dims, bytes: bytesOf(values) };
}

function graphOf(graph: OnnxGraph): Uint8Array {
  return join([
    ...graph.nodes.map((node) => message(1, nodeOf(node))),
    text(2, graph.name ?? 'graph'),
    ...graph.tensors.map((tensor) => message(5, tensorOf(tensor))),
    ...graph.inputs.map((value) => message(11, valueInfo(value))),
    ...graph.outputs.map((value) => message(12, valueInfo(value))),
  ]);
}

function nodeOf({ op, inputs, outputs, attributes = {}, domain }: OnnxNode): Uint8Array {
  return join([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(3, `${op}:${outputs[0] ?? ''}`),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => message(5, attributeOf(name, value))),
    ...(domain === undefined ? [] : [text(7, domain)]),
  ]);
}

/** @see onnx/onnx.proto, AttributeProto */
function attributeOf(name: string, value: OnnxAttribute): Uint8Array {
  const named = (type: number, ...fields: Uint8Array[]) =>
    join([text(1, name), ...fields, integer(20, type)]);
  if (typeof value === 'string') return named(3, text(4, value));
  if (typeof value === 'number') return named(2, integer(3, value));
  if ('float' in value) return named(1, float(2, value.float));
  if ('floats' in value) return named(6, ...value.floats.map((item) => float(7, item)));
  if ('tensor' in value) return named(4, message(5, tensorOf(value.tensor)));
  if ('graph' in value) return named(5, message(6, graphOf(value.graph)));
  return named(7, ...value.map((item) => integer(8, item)));
}

function tensorOf({ name, type, dims, bytes }: OnnxTensor): Uint8Array {
  return join([
    ...dims.map((dim) => integer(1, dim)),
    integer(2, ELEMENT[type]),
    text(8, name),
    message(9, bytes),
  ]);
}

function valueInfo({ name, type, dims }: OnnxValue): Uint8Array {
  const shape = dims.map((dim) =>
    message(1, typeof dim === 'number' ? integer(1, dim) : text(2, dim)),
  );
  const tensorType = join([integer(1, ELEMENT[type]), message(2, join(shape))]);
  return join([text(1, name), message(2, message(1, tensorType))]);
}

/** Protocol Buffers, wire type 2. */
function message(field: number, bytes: Uint8Array): Uint8Array {
  return join([varint(BigInt((field << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function text(field: number, value: string): Uint8Array {
  return message(field, new TextEncoder().encode(value));
}

/** Wire type 0; numbers below zero take ten bytes, as int64 does. */
function integer(field: number, value: number): Uint8Array {
  return join([varint(BigInt(field << 3)), varint(BigInt.asUintN(64, BigInt(value)))]);
}

/** Wire type 5. */
function float(field: number, value: number): Uint8Array {
  return join([varint(BigInt((field << 3) | 5)), bytesOf(Float32Array.of(value))]);
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.of(...bytes, Number(rest));
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function bytesOf(values: Float32Array | BigInt64Array | Int8Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

function checked<Values extends { readonly length: number }>(
  values: Values,
  dims: readonly number[],
): Values {
  if (values.length === sizeOf(dims)) return values;
  throw new RangeError(`Cannot fill [${dims.join(', ')}] with ${values.length} values`);
}
