/** Writes an ONNX file; pure */
import { ATTRIBUTE, ELEMENT, FIELD } from './onnx-fields.ts';
import { bytesField, join, varintField } from './protobuf.ts';

type Element = keyof typeof ELEMENT;

export interface NewNode {
  /** One of ONNX's own operators. */
  readonly type: string;
  /** Names of values; empty for one that is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Whole numbers are 0 or greater. */
  readonly attributes?: Readonly<Record<string, number | string | readonly number[]>>;
}

export interface NewTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly values: Float32Array | BigInt64Array;
}

/** What goes in or out; a name instead of a number is a length known only at run time. */
export interface NewValue {
  readonly name: string;
  readonly element: Element;
  readonly dims: readonly (number | string)[];
}

export interface NewGraph {
  readonly name: string;
  /** In the order in which they can be run. */
  readonly nodes: readonly NewNode[];
  readonly tensors: readonly NewTensor[];
  readonly inputs: readonly NewValue[];
  readonly outputs: readonly NewValue[];
}

/** The version of the format, and of its operators: read by every ONNX Runtime of the last years. */
const IR_VERSION = 8;
const OPSET = 16;

/** @returns the bytes of a whole file. */
export function writeModel(graph: NewGraph): Uint8Array<ArrayBuffer> {
  return join([
    varintField(FIELD.model.irVersion, IR_VERSION),
    bytesField(FIELD.model.producer, 'offhook'),
    bytesField(FIELD.model.graph, graphBytes(graph)),
    bytesField(FIELD.model.opset, varintField(FIELD.opset.version, OPSET)),
  ]);
}

function graphBytes({ name, nodes, tensors, inputs, outputs }: NewGraph): Uint8Array {
  return join([
    ...nodes.map((node) => bytesField(FIELD.graph.node, nodeBytes(node))),
    bytesField(FIELD.graph.name, name),
    ...tensors.map((tensor) => bytesField(FIELD.graph.tensor, tensorBytes(tensor))),
    ...inputs.map((value) => bytesField(FIELD.graph.input, valueBytes(value))),
    ...outputs.map((value) => bytesField(FIELD.graph.output, valueBytes(value))),
  ]);
}

function nodeBytes({ type, inputs, outputs, attributes = {} }: NewNode): Uint8Array {
  return join([
    ...inputs.map((name) => bytesField(FIELD.node.input, name)),
    ...outputs.map((name) => bytesField(FIELD.node.output, name)),
    bytesField(FIELD.node.name, `${type}:${outputs[0] ?? ''}`),
    bytesField(FIELD.node.type, type),
    ...Object.entries(attributes).map(([name, value]) =>
      bytesField(FIELD.node.attribute, attributeBytes(name, value)),
    ),
  ]);
}

function attributeBytes(name: string, value: number | string | readonly number[]): Uint8Array {
  const { int, text, ints, type } = FIELD.attribute;
  const typed = (kind: number, ...fields: Uint8Array[]) =>
    join([bytesField(FIELD.attribute.name, name), ...fields, varintField(type, kind)]);
  if (typeof value === 'string') return typed(ATTRIBUTE.text, bytesField(text, value));
  if (typeof value === 'number') return typed(ATTRIBUTE.int, varintField(int, value));
  return typed(ATTRIBUTE.ints, ...value.map((item) => varintField(ints, item)));
}

function tensorBytes({ name, dims, values }: NewTensor): Uint8Array {
  const element = values instanceof Float32Array ? ELEMENT.float32 : ELEMENT.int64;
  const { buffer, byteOffset, byteLength } = values;
  return join([
    ...dims.map((dim) => varintField(FIELD.tensor.dims, dim)),
    varintField(FIELD.tensor.type, element),
    bytesField(FIELD.tensor.name, name),
    bytesField(FIELD.tensor.raw, new Uint8Array(buffer, byteOffset, byteLength)),
  ]);
}

function valueBytes({ name, element, dims }: NewValue): Uint8Array {
  const shape = dims.map((dim) =>
    bytesField(
      FIELD.shape.dim,
      typeof dim === 'number'
        ? varintField(FIELD.dim.value, dim)
        : bytesField(FIELD.dim.parameter, dim),
    ),
  );
  const tensorType = join([
    varintField(FIELD.tensorType.element, ELEMENT[element]),
    bytesField(FIELD.tensorType.shape, join(shape)),
  ]);
  return join([
    bytesField(FIELD.value.name, name),
    bytesField(FIELD.value.type, bytesField(FIELD.type.tensor, tensorType)),
  ]);
}
