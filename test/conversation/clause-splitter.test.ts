/** Where a model's text may be cut, and where it must not be. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClauseSplitter, speakable } from '../../src/conversation/reply/clause-splitter.ts';

/** The pieces of a text that comes in tokens as models write them. */
function split(text: string, tokens: readonly string[] = text.split(/(?=\s)/)): string[] {
  const splitter = new ClauseSplitter();
  return [...tokens.flatMap((token) => splitter.push(token)), ...splitter.flush()];
}

test.each([
  ['Yes. We are open.', ['Yes.', 'We are open.']],
  ['Sure, I can help you, of course.', ['Sure, I can help you,', 'of course.']],
  [
    'Certainly, sir. We open at nine, and we close at five in the afternoon. Is that all?',
    ['Certainly, sir.', 'We open at nine, and we close at five in the afternoon.', 'Is that all?'],
  ],
  ['Hello! How are you?', ['Hello!', 'How are you?']],
  ['One\nTwo', ['One', 'Two']],
  ['はい。九時です。', ['はい。', '九時です。']],
  ['您好，我们每天九点到五点开门，周日休息。', ['您好，我们每天九点到五点开门，', '周日休息。']],
  ['नमस्ते। हम नौ बजे खुलते हैं।', ['नमस्ते।', 'हम नौ बजे खुलते हैं।']],
  ['مرحبا، كيف حالك؟ نفتح الساعة التاسعة.', ['مرحبا، كيف حالك؟', 'نفتح الساعة التاسعة.']],
  ['', []],
  ['   ', []],
])('ClauseSplitter cuts %j', (text, expected) => {
  expect(split(text)).toEqual(expected);
});

test.each([
  'Dr. Miller is in.',
  'Ask Mrs. Smith about it.',
  'It costs $29.95 today.',
  'We open at 9.30 a.m. on Monday.',
  'Write to john.smith@example.com now.',
  'Ask J. R. Smith.',
  'Room No. 5 is free.',
  'Take e.g. the bus.',
  'It is 12,500 in all.',
  '1. Monday',
  'El Sr. García vendrá.',
])('ClauseSplitter leaves %j whole', (text) => {
  expect(split(text)).toEqual([text]);
});

test('ClauseSplitter gives out the first clause before the sentence is over', () => {
  const splitter = new ClauseSplitter();

  expect(splitter.push('We are open from nine,')).toEqual([]);
  expect(splitter.push(' until')).toEqual(['We are open from nine,']);
});

test('ClauseSplitter cuts a sentence that does not end, between two words', () => {
  const pieces = split(`So ${'and then '.repeat(100)}`);

  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(240);
  expect(pieces.every((piece) => /(^So|and|then)$/.test(piece))).toBe(true);
});

test('ClauseSplitter loses no word and makes none, however the text comes', () => {
  const text = fc
    .array(fc.constantFrom('a', 'word', 'Dr.', 'end.', 'and,', '9.30', '\n', '?!', '。', '—'))
    .map((words) => words.join(' '));
  const wordsOf = (pieces: readonly string[]) => pieces.join(' ').split(/\s+/).join('');

  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (whole, cuts) => {
      const ends = [...cuts, whole.length].toSorted((one, other) => one - other);
      const tokens = ends.map((end, index) => whole.slice(ends[index - 1] ?? 0, end));
      const pieces = split(whole, tokens);

      expect(wordsOf(pieces)).toBe(wordsOf([whole]));
      expect(pieces.every((piece) => piece.trim() !== '' && piece.length <= 240)).toBe(true);
    }),
  );
});

test.each([
  ['**Sure**, see [our page](https://example.com)!', 'Sure, see our page!'],
  ['# Hours\n- Monday\n- Friday', 'Hours Monday Friday'],
  ['Great 😀 news 👍🏽 from 🇮🇹 :-)', 'Great news from'],
  ['a snake_case word', 'a snake_case word'],
  ['`code`  and _this_', 'code and this'],
  ['You pressed 1 2 *. Is that *really* it?', 'You pressed 1 2 *. Is that really it?'],
  ['Press * or #, please.', 'Press * or #, please.'],
  ['* Monday\n* Friday', 'Monday Friday'],
])('speakable reads %j as "%s"', (text, expected) => {
  expect(speakable(text)).toBe(expected);
});

test.each([
  ['Hindi', 'शर्\u200Dत और क्\u200Dष'],
  ['Persian', 'می\u200Cخواهم'],
])('speakable keeps the joiners of %s', (_, text) => {
  expect(speakable(text)).toBe(text);
});

test('speakable leaves nothing of an emoji that is made of several', () => {
  expect(speakable('Ready \u{1F468}\u200D\u{1F469}\u200D\u{1F467} now')).toBe('Ready now');
});
