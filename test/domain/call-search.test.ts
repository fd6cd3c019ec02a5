import { expect, test } from 'vitest';
import { searchOf } from '../../src/domain/call/call-search.ts';

test.for([
  ['call_0VbZ', { kind: 'id', prefix: 'call_0VbZ' }],
  [' +1 (202) 555-0123 ', { kind: 'number', digits: '12025550123' }],
  ['555', { kind: 'number', digits: '555' }],
  ['!?', undefined],
  ['   ', undefined],
] as const)('a search for "%s" is read as it is meant', ([text, expected]) => {
  expect(searchOf(text)).toEqual(expected);
});

test('words lose their punctuation, and only longer ones find what begins with them', () => {
  const words = [
    { word: 'Über', isPrefix: true },
    { word: '42', isPrefix: false },
    { word: 'AND', isPrefix: true },
    { word: 'no', isPrefix: false },
  ];
  expect(searchOf('"Über" 42* (AND) no:')).toEqual({ kind: 'words', words });
});

test('two digits are a word, and the eleventh word is left out', () => {
  expect(searchOf('12')).toEqual({ kind: 'words', words: [{ word: '12', isPrefix: false }] });
  const search = searchOf('a b c d e f g h i j k');
  expect(search?.kind === 'words' && search.words.length).toBe(10);
});
