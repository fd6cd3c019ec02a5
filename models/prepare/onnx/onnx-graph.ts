/** Reads the graph of an ONNX file: its nodes, those of the graphs within, and the numbers that come with it; pure */
import { FIELD } from './onnx-fields.ts';
import { fieldsOf, numbersOf, ProtobufError, type ProtobufField, textOf } from './protobuf.ts';

export interface GraphNode {
  /** Such as `Conv`; with its domain where it is not ONNX's own. */
  readonly type: string;
  /** Names of values; empty for one that is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, GraphAttribute>;
}

/** An attribute holds one of these; the others are empty. */
export interface GraphAttribute {
  readonly numbers: readonly number[];
  readonly text: string;
  readonly tensor: GraphTensor | null;
  readonly graph: Graph | null;
}

export interface GraphTensor {
  readonly dims: readonly number[];
  /** Number of its element type, as in `ELEMENT`. */
  readonly element: number;
  readonly fields: readonly ProtobufField[];
}

export interface Graph {
  /** In the order in which they can be run. */
  readonly nodes: readonly GraphNode[];
  /** What comes with the file, by name: initializers and what `Constant` nodes hold. */
  readonly tensors: ReadonlyMap<string, GraphTensor>;
}

/** A graph within a graph within a graph, and so on: no export goes as deep. */
const DEPTH_MAX = 20;

/** @throws {ProtobufError} when the bytes are no ONNX model. */
export function readGraph(model: Uint8Array): Graph {
  const graphs = fieldsOf(model).filter(({ number }) => number === FIELD.model.graph);
  const [graph] = graphs;
  if (graph === undefined || graphs.length > 1) throw new ProtobufError('there is no one graph');
  return graphOf(graph.content, 0);
}

/** The nodes of a graph and of all graphs within. */
export function allNodes(graph: Graph): readonly GraphNode[] {
  return graph.nodes.flatMap((node) => [node, ...graphsIn(node).flatMap(allNodes)]);
}

/** The graphs that a node may run, such as the branches of an `If`. */
export function graphsIn({ attributes }: GraphNode): readonly Graph[] {
  return [...attributes.values()].flatMap(({ graph }) => (graph === null ? [] : [graph]));
}

/** All that comes with a graph and the graphs within; names are the same throughout. */
export function allTensors(graph: Graph): ReadonlyMap<string, GraphTensor> {
  const within = graph.nodes.flatMap(graphsIn).flatMap((inner) => [...allTensors(inner)]);
  return new Map([...graph.tensors, ...within]);
}

/** A tensor's float32 values, in the order of its dimensions; null where it holds none, or lies in another file. */
export function floatsOf({ fields }: GraphTensor): Float32Array | null {
  const { raw, floats } = FIELD.tensor;
  const field = fields.find(
    ({ number, isLong }) => isLong && (number === raw || number === floats),
  );
  // Copied: within the file they lie anywhere, in memory they have to lie even.
  return field === undefined || field.content.length % Float32Array.BYTES_PER_ELEMENT !== 0
    ? null
    : new Float32Array(Uint8Array.from(field.content).buffer);
}

/** A tensor's int64 values. Those below zero or above 2^53 are imprecise. */
export function integersOf({ fields }: GraphTensor): readonly number[] {
  const raw = fields.find(({ number }) => number === FIELD.tensor.raw);
  if (raw === undefined) return numbersOf(fields, FIELD.tensor.int64s);
  const whole = raw.content.length - (raw.content.length % BigInt64Array.BYTES_PER_ELEMENT);
  return Array.from(
    new BigInt64Array(Uint8Array.from(raw.content.subarray(0, whole)).buffer),
    Number,
  );
}

function graphOf(content: Uint8Array, depth: number): Graph {
  if (depth > DEPTH_MAX) throw new ProtobufError('a graph lies too deep');
  const fields = fieldsOf(content);
  const nodes = fields
    .filter(({ number }) => number === FIELD.graph.node)
    .map((field) => nodeOf(fieldsOf(field.content), depth));
  const given = fields
    .filter(({ number }) => number === FIELD.graph.tensor)
    .map((field) => fieldsOf(field.content))
    .map((tensor) => [firstText(tensor, FIELD.tensor.name), tensorOf(tensor)] as const);
  const held = nodes.flatMap(({ type, outputs, attributes }) => {
    const tensor = type === 'Constant' ? attributes.get('value')?.tensor : null;
    return tensor ? [[outputs[0] ?? '', tensor] as const] : [];
  });
  return { nodes, tensors: new Map([...given, ...held]) };
}

function nodeOf(fields: readonly ProtobufField[], depth: number): GraphNode {
  const texts = (wanted: number) =>
    fields.filter(({ number }) => number === wanted).map((field) => textOf(field));
  const domain = firstText(fields, FIELD.node.domain);
  const type = firstText(fields, FIELD.node.type);
  const attributes = fields
    .filter(({ number }) => number === FIELD.node.attribute)
    .map((field) => fieldsOf(field.content))
    .map((one) => [firstText(one, FIELD.attribute.name), attributeOf(one, depth)] as const);
  return {
    type: domain === '' || domain === 'ai.onnx' ? type : `${domain}.${type}`,
    inputs: texts(FIELD.node.input),
    outputs: texts(FIELD.node.output),
    attributes: new Map(attributes),
  };
}

function attributeOf(fields: readonly ProtobufField[], depth: number): GraphAttribute {
  const one = (wanted: number) => fields.find(({ number }) => number === wanted);
  const tensor = one(FIELD.attribute.tensor);
  const graph = one(FIELD.attribute.graph);
  return {
    numbers: [
      ...numbersOf(fields, FIELD.attribute.int),
      ...numbersOf(fields, FIELD.attribute.ints),
    ],
    text: firstText(fields, FIELD.attribute.text),
    tensor: tensor === undefined ? null : tensorOf(fieldsOf(tensor.content)),
    graph: graph === undefined ? null : graphOf(graph.content, depth + 1),
  };
}

function tensorOf(fields: readonly ProtobufField[]): GraphTensor {
  return {
    dims: numbersOf(fields, FIELD.tensor.dims),
    element: fields.find(({ number }) => number === FIELD.tensor.type)?.value ?? 0,
    fields,
  };
}

function firstText(fields: readonly ProtobufField[], wanted: number): string {
  const field = fields.find(({ number }) => number === wanted);
  return field === undefined ? '' : textOf(field);
}
