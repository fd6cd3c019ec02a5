import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  EventSocketError,
  EventSocketReader,
} from '../../src/telephony/freeswitch/event-socket.ts';

test('EventSocketReader puts messages together, however they are cut', () => {
  const text =
    'Content-Type: auth/request\n\nContent-Type: api/response\nContent-Length: 5\n\nthree';
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), (size) => {
      const reader = new EventSocketReader();
      const bytes = Buffer.from(text);

      const messages = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        reader.push(bytes.subarray(at * size, (at + 1) * size)),
      ).flat();

      expect(messages.map(({ headers, body }) => [headers.get('content-type'), body])).toEqual([
        ['auth/request', ''],
        ['api/response', 'three'],
      ]);
    }),
  );
});

test.each([
  ['a header without name', 'nonsense\n\n'],
  ['a length that is no number', 'Content-Length: many\n\n'],
  ['a length below zero', 'Content-Length: -1\n\n'],
  ['a body of a gigabyte', 'Content-Length: 1073741824\n\n'],
  ['a header without end', 'x'.repeat(70_000)],
])('EventSocketReader refuses %s', (_, text) => {
  const reader = new EventSocketReader();

  expect(() => reader.push(Buffer.from(text))).toThrow(EventSocketError);
});

test('EventSocketReader survives any bytes, or refuses them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const reader = new EventSocketReader();
      try {
        reader.push(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(EventSocketError);
      }
    }),
  );
});
