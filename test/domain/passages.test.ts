/** Documents in passages: nothing is lost, nothing is too long, headings stay with their text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { passagesOf } from '../../src/domain/knowledge/passages.ts';

test('passages have the headings that they stand under', () => {
  const text =
    '# Shop\n\nWe sell tea.\n\n## Hours\n\nOpen from nine to five.\n\n### Holidays\nClosed on Monday.\n\n## Returns\n\nWithin 30 days.';

  expect(passagesOf(text)).toEqual([
    { heading: 'Shop', text: 'We sell tea.' },
    { heading: 'Shop › Hours', text: 'Open from nine to five.' },
    { heading: 'Shop › Hours › Holidays', text: 'Closed on Monday.' },
    { heading: 'Shop › Returns', text: 'Within 30 days.' },
  ]);
});

test('a long paragraph is cut between sentences, and the next passage begins with the last short one', () => {
  const sentences = Array.from(
    { length: 40 },
    (_, index) => `Sentence number ${index} says something about tea.`,
  );

  const passages = passagesOf(sentences.join(' '));

  expect(passages.length).toBeGreaterThan(1);
  expect(passages.every(({ text }) => text.length <= 900)).toBe(true);
  expect(passages[1]?.text.startsWith(passages[0]?.text.split('. ').at(-1) ?? '-')).toBe(true);
});

test('every word of a document is in a passage of 900 characters at most', () => {
  const word = fc.string({
    unit: fc.constantFrom(...'abcdeäöü.!? \n#'),
    minLength: 1,
    maxLength: 2000,
  });
  fc.assert(
    fc.property(word, (text) => {
      const passages = passagesOf(text);
      const found = passages.map(({ heading, text: part }) => `${heading} ${part}`).join(' ');
      for (const one of text.match(/[a-zäöü]+/g) ?? []) {
        expect(found.includes(one) || one.length > 900).toBe(true);
      }
      expect(passages.every(({ text: part }) => part.length <= 900 && part !== '')).toBe(true);
    }),
  );
});
