/** What is different between two texts: the pieces always make up both. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TextPiece, textDiff } from '../../src/dashboard/forms/form-changes.ts';

const without = (kind: TextPiece['kind'], pieces: readonly TextPiece[]) =>
  pieces
    .filter((piece) => piece.kind !== kind)
    .map(({ text }) => text)
    .join('');

test('textDiff marks the words that went and came, and leaves the rest alone', () => {
  const pieces = textDiff('Ask for the name, then book.', 'Ask for the full name, then call.');

  expect(pieces).toEqual([
    { kind: 'same', text: 'Ask for the ' },
    { kind: 'new', text: 'full ' },
    { kind: 'same', text: 'name, then ' },
    { kind: 'gone', text: 'book' },
    { kind: 'new', text: 'call' },
    { kind: 'same', text: '.' },
  ]);
});

test.each([
  ['', '', []],
  ['same', 'same', [{ kind: 'same', text: 'same' }]],
  ['', 'new', [{ kind: 'new', text: 'new' }]],
  ['gone', '', [{ kind: 'gone', text: 'gone' }]],
])('textDiff(%o, %o)', (before, after, pieces) => {
  expect(textDiff(before, after)).toEqual(pieces);
});

test('textDiff gives both texts back, whatever they are', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'ü', '.', '😀') });

  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const pieces = textDiff(before, after);

      expect(without('new', pieces)).toBe(before);
      expect(without('gone', pieces)).toBe(after);
    }),
  );
});

test('textDiff of two long texts that share nothing ends soon, and is still right', () => {
  const [before, after] = ['a b,'.repeat(5000), 'c d;'.repeat(5000)];

  const pieces = textDiff(before, after);

  expect(pieces).toHaveLength(2);
  expect(without('new', pieces)).toBe(before);
});
