/** Frees a Whisper encoder of its fixed window of 30 s: cuts the table of positions to the length of the input; pure */

import { type EncoderGraph, type GraphNode, readEncoderGraph } from './encoder-graph.ts';
import { FIELD } from './onnx/onnx-fields.ts';
import {
  bytesField,
  fieldsOf,
  join,
  type ProtobufField,
  textOf,
  varintField,
} from './onnx/protobuf.ts';

/** The first opset whose `Slice` takes its bounds as inputs. */
const OPSET_MIN = 10;

/** Names of ours, which no export has. */
const OWN = 'offhook/';

const INT64 = 7;

/** The shapes that a fixed encoder is fixed to. */
export interface EncoderShape {
  /** Rows of the table of positions: 1500, half as many as frames go in. */
  readonly positions: number;
  readonly modelSize: number;
}

export type FreedEncoder =
  /** `model` takes any even number of frames up to twice the positions. */
  | { readonly kind: 'edited'; readonly model: Uint8Array<ArrayBuffer> }
  /** No table is added as a whole: the file can be used as it is. */
  | { readonly kind: 'as-is' }
  /** There is a table, and it cannot be cut. */
  | { readonly kind: 'fixed'; readonly reason: string };

/**
 * Puts a cut between the table of positions and where it is added:
 *
 * ```text
 * before:  x [B, T, d] ─────────────────────────┐
 *          table [1500, d] ─────────────────── Add
 * after:   x ───────┬───────────────────────────┐
 *                   Shape ─ Slice [-2:-1] ─ T   │
 *          table ── Slice [0:T], axis -2 ────── Add
 * ```
 *
 * and removes the lengths 3000 and 1500 from the shapes of inputs, outputs and values between. The table
 * may be of any element type, and may come through nodes that only have constants before them (`DequantizeLinear`,
 * `Cast`, `Gather`).
 *
 * @throws {ProtobufError} when the bytes are no ONNX model.
 */
export function freeEncoderWindow(model: Uint8Array, shape: EncoderShape): FreedEncoder {
  const graph = readEncoderGraph(model);
  const tables = tablesOf(graph, shape);
  const sites = new Map(
    graph.nodes.flatMap((node) => {
      const site = siteOf(node, tables);
      return site === null ? [] : [[node.field, site] as const];
    }),
  );
  if (sites.size === 0) return { kind: 'as-is' };
  if (graph.hasExternalData) return { kind: 'fixed', reason: 'its weights lie in another file' };
  if (graph.opset < OPSET_MIN) {
    return { kind: 'fixed', reason: `it is written in opset ${graph.opset}, which is too old` };
  }
  return { kind: 'edited', model: editedModel(graph, sites, shape) };
}

/** A node that adds the table to its input. */
interface Site {
  readonly node: GraphNode;
  readonly table: string;
  readonly heard: string;
}

/** Names of constant values, and whether each comes from the table of positions. */
function tablesOf(
  graph: EncoderGraph,
  { positions, modelSize }: EncoderShape,
): ReadonlyMap<string, boolean> {
  const tables = new Map(
    graph.constants.map(({ name, dims }) => {
      const isTable = dims.at(-2) === positions && dims.at(-1) === modelSize;
      return [name, isTable] as const;
    }),
  );
  // Nodes come in the order in which they can be run.
  for (const { inputs, outputs } of graph.nodes) {
    const given = inputs.filter((name) => name !== '');
    if (given.length === 0 || !given.every((name) => tables.has(name))) continue;
    const isTable = given.some((name) => tables.get(name));
    for (const name of outputs) tables.set(name, isTable);
  }
  return tables;
}

function siteOf(node: GraphNode, tables: ReadonlyMap<string, boolean>): Site | null {
  if (node.type !== 'Add') return null;
  const table = node.inputs.find((name) => tables.get(name));
  const heard = node.inputs.find((name) => !tables.has(name));
  return table === undefined || heard === undefined ? null : { node, table, heard };
}

function editedModel(
  graph: EncoderGraph,
  sites: ReadonlyMap<ProtobufField, Site>,
  shape: EncoderShape,
): Uint8Array<ArrayBuffer> {
  const fields = graph.graphFields.flatMap((field) => editedField(field, sites, shape));
  const edited = join([...fields, ...BOUNDS]);
  return join(
    graph.modelFields.map((field) =>
      field.number === FIELD.model.graph ? bytesField(field.number, edited) : field.bytes,
    ),
  );
}

function editedField(
  field: ProtobufField,
  sites: ReadonlyMap<ProtobufField, Site>,
  { positions }: EncoderShape,
): readonly Uint8Array[] {
  const { number, bytes } = field;
  const lengths = new Map([
    [2 * positions, 'frames'],
    [positions, 'positions'],
  ]);
  switch (number) {
    case FIELD.graph.node: {
      const site = sites.get(field);
      return site === undefined ? [bytes] : cutAt(site);
    }
    case FIELD.graph.input:
    case FIELD.graph.output:
    case FIELD.graph.valueInfo:
      return [withFreeDims(field, VALUE_PATH, lengths)];
    default:
      return [bytes];
  }
}

/** The way from a value to its dimensions, message by message. */
const VALUE_PATH = [
  FIELD.value.type,
  FIELD.type.tensor,
  FIELD.tensorType.shape,
  FIELD.shape.dim,
] as const;

/** Gives dimensions of the lengths named a name instead of a number. */
function withFreeDims(
  field: ProtobufField,
  path: readonly number[],
  lengths: ReadonlyMap<number, string>,
): Uint8Array {
  const [step, ...rest] = path;
  const parts = fieldsOf(field.content).map((part) => {
    if (step === undefined) return withoutLength(part, lengths);
    return part.number === step ? withFreeDims(part, rest, lengths) : part.bytes;
  });
  return bytesField(field.number, join(parts));
}

function withoutLength(part: ProtobufField, lengths: ReadonlyMap<number, string>): Uint8Array {
  const name = part.number === FIELD.dim.value ? lengths.get(part.value) : undefined;
  return name === undefined ? part.bytes : bytesField(FIELD.dim.parameter, OWN + name);
}

/** Bounds of the slices, one number each. */
const BOUNDS: readonly Uint8Array[] = [0, -1, -2].map((bound) =>
  bytesField(
    FIELD.graph.tensor,
    join([
      varintField(FIELD.tensor.dims, 1),
      varintField(FIELD.tensor.type, INT64),
      // As packed field: negative numbers take ten bytes.
      bytesField(FIELD.tensor.int64s, int64Varint(bound)),
      bytesField(FIELD.tensor.name, boundName(bound)),
    ]),
  ),
);

function boundName(bound: number): string {
  return `${OWN}bound${bound}`;
}

function int64Varint(bound: number): Uint8Array {
  if (bound >= 0) return Uint8Array.of(bound);
  const lowest = 0x80 + bound;
  return Uint8Array.of(lowest | 0x80, ...Array<number>(8).fill(0xff), 0x01);
}

/** The nodes that cut the table, and the sum of their result. */
function cutAt({ node, table, heard }: Site): readonly Uint8Array[] {
  const own = (what: string) => `${OWN}${node.outputs[0]}/${what}`;
  const sum = fieldsOf(node.field.content).map((part) => {
    const isTable = part.number === FIELD.node.input && textOf(part) === table;
    return isTable ? bytesField(FIELD.node.input, own('cut')) : part.bytes;
  });
  return [
    nodeField('Shape', [heard], own('shape')),
    nodeField('Slice', [own('shape'), boundName(-2), boundName(-1)], own('length')),
    nodeField('Slice', [table, boundName(0), own('length'), boundName(-2)], own('cut')),
    bytesField(FIELD.graph.node, join(sum)),
  ];
}

function nodeField(type: string, inputs: readonly string[], output: string): Uint8Array {
  const parts = [
    ...inputs.map((name) => bytesField(FIELD.node.input, name)),
    bytesField(FIELD.node.output, output),
    bytesField(FIELD.node.name, output),
    bytesField(FIELD.node.type, type),
  ];
  return bytesField(FIELD.graph.node, join(parts));
}
