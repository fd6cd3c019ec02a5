/** Reading Protocol Buffers without a schema: whole messages, and anything else. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bytesField,
  fieldsOf,
  join,
  numbersOf,
  ProtobufError,
  textOf,
  varintField,
} from '../../../models/prepare/onnx/protobuf.ts';

test('fieldsOf reads back what was written', () => {
  const message = join([varintField(1, 300), bytesField(2, 'encoder'), varintField(1, 2 ** 40)]);

  const fields = fieldsOf(message);

  expect(fields.map(({ number }) => number)).toEqual([1, 2, 1]);
  expect(numbersOf(fields, 1)).toEqual([300, 2 ** 40]);
  expect(fields.slice(1, 2).map(textOf)).toEqual(['encoder']);
  expect(join(fields.map(({ bytes }) => bytes))).toEqual(message);
});

test('numbersOf reads packed numbers', () => {
  const packed = bytesField(1, Uint8Array.of(0xdc, 0x0b, 0x40));

  expect(numbersOf(fieldsOf(packed), 1)).toEqual([1500, 64]);
});

test('fieldsOf skips numbers of fixed size', () => {
  const message = Uint8Array.of(0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 7);

  const fields = fieldsOf(message);

  expect(fields.map(({ number, bytes }) => [number, bytes.length])).toEqual([
    [1, 9],
    [2, 5],
    [3, 2],
  ]);
});

test.each([
  { what: 'a length beyond the end', bytes: [0x0a, 0x05, 1, 2] },
  { what: 'a huge length', bytes: [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f] },
  { what: 'a number that does not end', bytes: [0x08, 0x80, 0x80] },
  { what: 'a number of more than 64 bits', bytes: [0x08, ...Array<number>(11).fill(0x80)] },
  { what: 'groups, which are long out of use', bytes: [0x0b] },
  { what: 'eight bytes that are not there', bytes: [0x09, 1, 2] },
])('fieldsOf refuses $what', ({ bytes }) => {
  expect(() => fieldsOf(Uint8Array.from(bytes))).toThrow(ProtobufError);
});

test('fieldsOf refuses more fields than any graph has', () => {
  expect(() => fieldsOf(new Uint8Array(600_000).fill(0x08))).toThrow('more than 200000 fields');
});

test('fieldsOf comes to an end on any bytes, and gives each of them once or refuses', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const read = readOrRefuse(bytes);

      if (read !== null) expect(join(read.map((field) => field.bytes))).toEqual(join([bytes]));
    }),
    { numRuns: 2000 },
  );
});

function readOrRefuse(bytes: Uint8Array) {
  try {
    return fieldsOf(bytes);
  } catch (error) {
    if (error instanceof ProtobufError) return null;
    throw error;
  }
}
