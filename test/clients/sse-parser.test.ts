/** The event stream's parser of the TypeScript client. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SseParser } from '../../clients/typescript/src/sse-parser.ts';

/** All events of a text that comes in the given pieces. */
function eventsOf(pieces: readonly string[]) {
  const parser = new SseParser(10_000);
  return pieces.flatMap((piece) => [...parser.push(piece)]);
}

const line = fc.oneof(
  fc.constantFrom('', '', 'data', 'data:', 'data: a', 'data:b', 'event: call', ': ping', 'id: 1'),
  fc.string({ unit: fc.constantFrom('d', 'a', 't', ':', ' ', 'é') }),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const streamText = fc
  .array(fc.tuple(line, lineEnd))
  .map((lines) => `${lines.flat().join('')}\n\ndata: end\n\n`);

test('SseParser gives the same events wherever the text is cut', () => {
  fc.assert(
    fc.property(streamText, fc.array(fc.nat(200)), (text, cuts) => {
      const places = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b)];
      const pieces = places.map((place, index) => text.slice(place, places[index + 1]));

      expect(eventsOf(pieces)).toEqual(eventsOf([text]));
    }),
  );
});

test('SseParser joins lines of data, and leaves out comments and events without data', () => {
  const text = ': hello\n\nevent: none\n\nevent: call\ndata: a\ndata:  b\n\ndata\n\n';

  expect(eventsOf([text])).toEqual([
    { event: 'call', data: 'a\n b' },
    { event: 'message', data: '' },
  ]);
});

test('SseParser keeps the reconnection delay, if it is a number', () => {
  const parser = new SseParser(100);

  const events = [...parser.push('retry: 2000\nretry: soon\n\n')];

  expect([events, parser.retryMs]).toEqual([[], 2000]);
});

test.each([
  ['without a line end', 'x'.repeat(101)],
  ['of many lines', 'data: 12345678901234567890\n'.repeat(6)],
])('SseParser gives up an event %s that is too long', (_what, text) => {
  expect(() => [...new SseParser(100).push(text)]).toThrow(RangeError);
});
