/** Constant folding: values of a graph that are the same in every run; pure */
import {
  allNodes,
  allTensors,
  floatsOf,
  type Graph,
  type GraphNode,
  type GraphTensor,
  integersOf,
} from './onnx-graph.ts';

/** Float32 values in the order of their dimensions. */
export interface Constant {
  readonly dims: readonly number[];
  readonly values: Float32Array;
}

/** Longer chains than exports have; ends cycles. */
const DEPTH_MAX = 12;

export class GraphConstants {
  readonly #tensors: ReadonlyMap<string, GraphTensor>;
  readonly #makers: ReadonlyMap<string, GraphNode>;

  /** @param graph with those within it. */
  constructor(graph: Graph) {
    this.#tensors = allTensors(graph);
    this.#makers = new Map(
      allNodes(graph).flatMap((node) => node.outputs.map((name) => [name, node] as const)),
    );
  }

  /** The value of that name; null where it depends on what goes in, or on an operator that is not known here. */
  valueOf(name: string): Constant | null {
    return this.#valueOf(name, 0);
  }

  #valueOf(name: string, depth: number): Constant | null {
    const tensor = this.#tensors.get(name);
    if (tensor !== undefined) return constantOf(tensor);
    const maker = this.#makers.get(name);
    if (maker === undefined || depth === DEPTH_MAX) return null;
    const parts = () => maker.inputs.map((input) => this.#valueOf(input, depth + 1));
    switch (maker.type) {
      case 'Identity':
        return parts()[0] ?? null;
      case 'Unsqueeze':
        return this.#isFirstAxis(maker.inputs[1]) ? inOne(this.#first(maker, depth)) : null;
      case 'Slice':
        return this.#slice(maker, depth);
      case 'Concat':
        return maker.attributes.get('axis')?.numbers[0] === 0 ? joined(parts()) : null;
      default:
        return null;
    }
  }

  #first(maker: GraphNode, depth: number): Constant | null {
    return this.#valueOf(maker.inputs[0] ?? '', depth + 1);
  }

  /** Rows only, one after the other. */
  #slice(maker: GraphNode, depth: number): Constant | null {
    const [, starts, ends, axes, steps] = maker.inputs;
    const [start, end] = [this.#integer(starts), this.#integer(ends)];
    const isPlain = steps === undefined || steps === '' || this.#integer(steps) === 1;
    const whole = this.#first(maker, depth);
    if (!this.#isFirstAxis(axes) || !isPlain || whole === null) return null;
    if (start === null || end === null || start > end) return null;
    const [rows = 0, ...others] = whole.dims;
    if (end > rows) return null;
    const rowSize = others.reduce((product, dim) => product * dim, 1);
    return {
      dims: [end - start, ...others],
      values: whole.values.subarray(start * rowSize, end * rowSize),
    };
  }

  #isFirstAxis(name: string | undefined): boolean {
    return this.#integer(name) === 0;
  }

  /** One number, 0 or greater. */
  #integer(name: string | undefined): number | null {
    const tensor = this.#tensors.get(name ?? '');
    const [number, ...others] = tensor === undefined ? [] : integersOf(tensor);
    const isOne = number !== undefined && others.length === 0;
    return isOne && Number.isSafeInteger(number) && number >= 0 ? number : null;
  }
}

function constantOf(tensor: GraphTensor): Constant | null {
  const values = floatsOf(tensor);
  const size = tensor.dims.reduce((product, dim) => product * dim, 1);
  return values === null || values.length !== size ? null : { dims: tensor.dims, values };
}

function inOne(part: Constant | null): Constant | null {
  return part === null ? null : { dims: [1, ...part.dims], values: part.values };
}

function joined(parts: readonly (Constant | null)[]): Constant | null {
  const known = parts.filter((part) => part !== null);
  const [first] = known;
  if (first === undefined || known.length < parts.length) return null;
  const rowsOf = ({ dims }: Constant) => dims[0] ?? 0;
  const values = new Float32Array(known.reduce((sum, part) => sum + part.values.length, 0));
  let at = 0;
  for (const part of known) {
    values.set(part.values, at);
    at += part.values.length;
  }
  const rows = known.reduce((sum, part) => sum + rowsOf(part), 0);
  return { dims: [rows, ...first.dims.slice(1)], values };
}
