/** Server-Sent Events in pieces of any size. */
import { expect, test } from 'vitest';
import { SseParser } from '../../src/dashboard/live-state.ts';

const STREAM =
  ': hello\n\nevent: said\ndata: {"a":1}\n\nevent: call\r\ndata: one\r\ndata: two\r\n\r\ndata:x\n\n';

const EVENTS = [
  { event: 'said', data: '{"a":1}' },
  { event: 'call', data: 'one\ntwo' },
  { event: 'message', data: 'x' },
];

test.each([1, 2, 3, 7, 1000])('SseParser reads the same from pieces of %i characters', (size) => {
  const parser = new SseParser();
  const events = [];

  for (let at = 0; at < STREAM.length; at += size) {
    events.push(...parser.push(STREAM.slice(at, at + size)));
  }

  expect(events).toEqual(EVENTS);
});

test('SseParser gives nothing for an event that is not complete', () => {
  const parser = new SseParser();

  expect(parser.push('event: said\ndata: {"a":1}\n')).toEqual([]);
  expect(parser.push('\n')).toHaveLength(1);
});

test('SseParser refuses a line that never ends', () => {
  const parser = new SseParser();
  const piece = 'x'.repeat(1_500_000);
  parser.push(piece);
  parser.push(piece);

  expect(() => parser.push(piece)).toThrow(RangeError);
});
