/** The parts of an ONNX file that editing an encoder needs: opset, nodes, and shapes of constants; pure */
import { FIELD } from './onnx/onnx-fields.ts';
import { fieldsOf, numbersOf, ProtobufError, type ProtobufField, textOf } from './onnx/protobuf.ts';

/** `TensorProto.EXTERNAL`: the values lie in another file. */
const LOCATION_EXTERNAL = 1;

export interface GraphNode {
  readonly field: ProtobufField;
  readonly type: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** A tensor that comes with the file. */
export interface GraphConstant {
  readonly name: string;
  readonly dims: readonly number[];
}

export interface EncoderGraph {
  /** Of ONNX's own operators. */
  readonly opset: number;
  /** The model's fields, and within the graph's its own. */
  readonly modelFields: readonly ProtobufField[];
  readonly graphFields: readonly ProtobufField[];
  readonly nodes: readonly GraphNode[];
  /** Initializers and what `Constant` nodes hold. */
  readonly constants: readonly GraphConstant[];
  /** Whether a tensor's values are stored in an external data file. */
  readonly hasExternalData: boolean;
}

/** @throws {ProtobufError} when the bytes are no ONNX model. */
export function readEncoderGraph(model: Uint8Array): EncoderGraph {
  const modelFields = fieldsOf(model);
  const graphs = modelFields.filter(({ number }) => number === FIELD.model.graph);
  const [graph] = graphs;
  if (graph === undefined || graphs.length > 1) throw new ProtobufError('there is no one graph');
  const graphFields = fieldsOf(graph.content);
  const nodes = graphFields.filter(({ number }) => number === FIELD.graph.node).map(nodeOf);
  const tensors = graphFields
    .filter(({ number }) => number === FIELD.graph.tensor)
    .map(({ content }) => fieldsOf(content));
  return {
    opset: opsetOf(modelFields),
    modelFields,
    graphFields,
    nodes,
    constants: [...tensors.map(constantOf), ...nodes.flatMap(heldBy)],
    hasExternalData: tensors.some(isExternal),
  };
}

function opsetOf(modelFields: readonly ProtobufField[]): number {
  const opsets = modelFields
    .filter(({ number }) => number === FIELD.model.opset)
    .map(({ content }) => fieldsOf(content));
  const own = opsets.find((opset) => firstText(opset, FIELD.opset.domain) === '');
  return own?.find(({ number }) => number === FIELD.opset.version)?.value ?? 0;
}

function nodeOf(field: ProtobufField): GraphNode {
  const fields = fieldsOf(field.content);
  const texts = (wanted: number) =>
    fields.filter(({ number }) => number === wanted).map((text) => textOf(text));
  const domain = firstText(fields, FIELD.node.domain);
  const type = firstText(fields, FIELD.node.type);
  return {
    field,
    type: domain === '' || domain === 'ai.onnx' ? type : `${domain}.${type}`,
    inputs: texts(FIELD.node.input),
    outputs: texts(FIELD.node.output),
  };
}

function constantOf(tensor: readonly ProtobufField[]): GraphConstant {
  return {
    name: firstText(tensor, FIELD.tensor.name),
    dims: numbersOf(tensor, FIELD.tensor.dims),
  };
}

function isExternal(tensor: readonly ProtobufField[]): boolean {
  return tensor.some(
    ({ number, value }) => number === FIELD.tensor.location && value === LOCATION_EXTERNAL,
  );
}

function heldBy({ type, field, outputs }: GraphNode): readonly GraphConstant[] {
  if (type !== 'Constant') return [];
  const attribute = fieldsOf(field.content).find(({ number }) => number === FIELD.node.attribute);
  if (attribute === undefined) return [];
  const tensor = fieldsOf(attribute.content).find(
    ({ number }) => number === FIELD.attribute.tensor,
  );
  const dims = tensor === undefined ? [] : numbersOf(fieldsOf(tensor.content), FIELD.tensor.dims);
  return [{ name: outputs[0] ?? '', dims }];
}

function firstText(fields: readonly ProtobufField[], wanted: number): string {
  const field = fields.find(({ number }) => number === wanted);
  return field === undefined ? '' : textOf(field);
}
