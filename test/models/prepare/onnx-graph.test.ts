/** Reading and writing ONNX files: nodes, graphs within, numbers, and constants that are only reshaped. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GraphConstants } from '../../../models/prepare/onnx/onnx-constants.ts';
import {
  allNodes,
  floatsOf,
  integersOf,
  readGraph,
} from '../../../models/prepare/onnx/onnx-graph.ts';
import { writeModel } from '../../../models/prepare/onnx/onnx-writer.ts';
import { ProtobufError } from '../../../models/prepare/onnx/protobuf.ts';
import { float32, int64, type OnnxNode, onnxModel } from '../../support/speech/onnx-file.ts';

test('readGraph reads what writeModel wrote', () => {
  const model = writeModel({
    name: 'sum',
    nodes: [
      { type: 'Concat', inputs: ['x', 'w'], outputs: ['y'], attributes: { axis: 1 } },
      { type: 'Pad', inputs: ['y', 'pads'], outputs: ['z'], attributes: { mode: 'reflect' } },
      { type: 'Transpose', inputs: ['z'], outputs: ['t'], attributes: { perm: [1, 0] } },
    ],
    tensors: [
      { name: 'w', dims: [1, 2], values: Float32Array.of(0.5, -2) },
      { name: 'pads', dims: [4], values: BigInt64Array.of(0n, -1n, 0n, 300n) },
    ],
    inputs: [{ name: 'x', element: 'float32', dims: ['calls', 3] }],
    outputs: [{ name: 't', element: 'float32', dims: ['width', 'calls'] }],
  });

  const { nodes, tensors } = readGraph(model);

  expect(nodes.map(({ type, inputs, outputs }) => [type, inputs, outputs])).toEqual([
    ['Concat', ['x', 'w'], ['y']],
    ['Pad', ['y', 'pads'], ['z']],
    ['Transpose', ['z'], ['t']],
  ]);
  expect(nodes.map(({ attributes }) => [...attributes.values()][0]?.numbers)).toEqual([
    [1],
    [],
    [1, 0],
  ]);
  expect(nodes[1]?.attributes.get('mode')?.text).toBe('reflect');
  const [weights, pads] = [tensors.get('w'), tensors.get('pads')];
  expect(weights && floatsOf(weights)).toEqual(Float32Array.of(0.5, -2));
  expect(pads && integersOf(pads)).toEqual([0, -1, 0, 300]);
});

/** A graph that holds its numbers in nodes, within a branch, as exports do. */
function nested(nodes: readonly OnnxNode[]): Uint8Array {
  const held = [
    float32('rows', [3, 2], [1, 2, 3, 4, 5, 6]),
    ...[0, 1, 2, 3].map((value) => int64(`n${value}`, [1], [value])),
  ].map((tensor) => ({
    op: 'Constant',
    inputs: [],
    outputs: [tensor.name],
    attributes: { value: { tensor } },
  }));
  const graph = { nodes: [...held, ...nodes], inputs: [], outputs: [], tensors: [] };
  const choice = {
    op: 'If',
    inputs: ['is'],
    outputs: ['y'],
    attributes: { then_branch: { graph } },
  };
  return onnxModel({ nodes: [choice], inputs: [], outputs: [], tensors: [] });
}

test('GraphConstants follows numbers through cuts, joins and new axes, in graphs within', () => {
  const graph = readGraph(
    nested([
      { op: 'Slice', inputs: ['rows', 'n2', 'n3', 'n0'], outputs: ['end'] },
      { op: 'Slice', inputs: ['rows', 'n0', 'n2', 'n0', 'n1'], outputs: ['start'] },
      { op: 'Concat', inputs: ['end', 'start'], outputs: ['turned'], attributes: { axis: 0 } },
      { op: 'Unsqueeze', inputs: ['turned', 'n0'], outputs: ['one'] },
      { op: 'Identity', inputs: ['one'], outputs: ['same'] },
    ]),
  );

  const constant = new GraphConstants(graph).valueOf('same');

  expect(constant).toEqual({ dims: [1, 3, 2], values: Float32Array.of(5, 6, 1, 2, 3, 4) });
  expect(allNodes(graph).map(({ type }) => type)).toContain('Unsqueeze');
});

test.each([
  { what: 'that comes in', node: { op: 'Identity', inputs: ['input'], outputs: ['out'] } },
  { what: 'that is worked out', node: { op: 'Sqrt', inputs: ['rows'], outputs: ['out'] } },
  {
    what: 'cut across',
    node: { op: 'Slice', inputs: ['rows', 'n0', 'n1', 'n1'], outputs: ['out'] },
  },
  {
    what: 'cut in steps',
    node: { op: 'Slice', inputs: ['rows', 'n0', 'n2', 'n0', 'n2'], outputs: ['out'] },
  },
  {
    what: 'cut from an end that is not there',
    node: { op: 'Slice', inputs: ['rows', 'n1', 'n9', 'n0'], outputs: ['out'] },
  },
  {
    what: 'joined across',
    node: { op: 'Concat', inputs: ['rows', 'rows'], outputs: ['out'], attributes: { axis: 1 } },
  },
  {
    what: 'joined with what comes in',
    node: { op: 'Concat', inputs: ['rows', 'x'], outputs: ['out'], attributes: { axis: 0 } },
  },
  { what: 'made of itself', node: { op: 'Identity', inputs: ['out'], outputs: ['out'] } },
])('GraphConstants knows nothing of a value $what', ({ node }) => {
  const constants = new GraphConstants(readGraph(nested([node])));

  expect(constants.valueOf('out')).toBeNull();
});

test('readGraph refuses what is no model, and never fails otherwise', () => {
  const whole = nested([]);

  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, value]) => {
          const damaged = Uint8Array.from(whole);
          damaged[at] = value;
          return damaged;
        }),
      ),
      (bytes) => {
        try {
          const graph = readGraph(bytes);
          new GraphConstants(graph).valueOf('rows');
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      },
    ),
    { numRuns: 1000 },
  );
});
