/** What the writer of ONNX models writes can be loaded and run. */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import { float32, int64, type OnnxGraph, onnxModel } from '../support/speech/onnx-file.ts';

const branch = (op: string): OnnxGraph => ({
  nodes: [{ op, inputs: ['x', 'weights'], outputs: [`y_${op}`] }],
  inputs: [],
  outputs: [{ name: `y_${op}`, type: 'float32', dims: ['n', 2] }],
  tensors: [],
});

const GRAPH: OnnxGraph = {
  nodes: [
    { op: 'Slice', inputs: ['long', 'from', 'to', 'axis'], outputs: ['x'] },
    {
      op: 'If',
      inputs: ['isSum'],
      outputs: ['y'],
      attributes: {
        then_branch: { graph: branch('Add') },
        else_branch: { graph: branch('Mul') },
      },
    },
    { op: 'Softmax', inputs: ['y'], outputs: ['share'], attributes: { axis: -1 } },
  ],
  inputs: [
    { name: 'long', type: 'float32', dims: ['n', 2] },
    { name: 'isSum', type: 'bool', dims: [1] },
  ],
  outputs: [
    { name: 'y', type: 'float32', dims: ['n', 2] },
    { name: 'share', type: 'float32', dims: ['n', 2] },
  ],
  tensors: [
    float32('weights', [1, 2], [10, 100]),
    int64('from', [1], [-2]),
    int64('to', [1], [1000]),
    int64('axis', [1], [0]),
  ],
};

test('a model with branches, attributes and all kinds of tensors runs', async () => {
  const session = await InferenceSession.create(onnxModel(GRAPH));
  const long = new Tensor('float32', Float32Array.of(0, 0, 1, 2, 3, 4), [3, 2]);
  const run = (isSum: boolean) => session.run({ long, isSum: new Tensor('bool', [isSum], [1]) });

  const [sum, product] = [await run(true), await run(false)];

  expect(Array.from(sum.y?.data as Float32Array)).toEqual([11, 102, 13, 104]);
  expect(Array.from(product.y?.data as Float32Array)).toEqual([10, 200, 30, 400]);
  expect(Number((sum.share?.data as Float32Array)[1])).toBeCloseTo(1, 5);
});
