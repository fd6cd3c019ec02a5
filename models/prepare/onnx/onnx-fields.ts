/** Numbers of the fields of an ONNX file that we read or write; pure */

/** @see onnx/onnx.proto */
export const FIELD = {
  model: { irVersion: 1, producer: 2, graph: 7, opset: 8 },
  opset: { domain: 1, version: 2 },
  graph: { node: 1, name: 2, tensor: 5, input: 11, output: 12, valueInfo: 13 },
  node: { input: 1, output: 2, name: 3, type: 4, attribute: 5, domain: 7 },
  attribute: { name: 1, int: 3, text: 4, tensor: 5, graph: 6, ints: 8, type: 20 },
  tensor: { dims: 1, type: 2, floats: 4, int64s: 7, name: 8, raw: 9, location: 14 },
  value: { name: 1, type: 2 },
  type: { tensor: 1 },
  tensorType: { element: 1, shape: 2 },
  shape: { dim: 1 },
  dim: { value: 1, parameter: 2 },
} as const;

/** `TensorProto.DataType`. */
export const ELEMENT = { float32: 1, int64: 7 } as const;

/** `AttributeProto.AttributeType`. */
export const ATTRIBUTE = { int: 2, text: 3, ints: 7 } as const;
