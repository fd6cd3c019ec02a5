/** Stage directions of models are not spoken; all other text in brackets and stars is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StageDirectionFilter } from '../../src/conversation/reply/stage-directions.ts';

const filtered = (...chunks: string[]) => {
  const filter = new StageDirectionFilter();
  return chunks.map((chunk) => filter.push(chunk)).join('') + filter.flush();
};

test.each([
  ['*smiles* Sure, I can help.', ' Sure, I can help.'],
  ['(laughs) That is funny.', ' That is funny.'],
  ['[pauses] Let me see.', ' Let me see.'],
  ['Yes. *He nods.* Of course.', 'Yes.  Of course.'],
  ['*smiles warmly, then pauses* Hello', ' Hello'],
  ['(softly laughing) Hello', ' Hello'],
  ['Well _sighs_ yes', 'Well  yes'],
  ['[short pause] Yes', ' Yes'],
  ['(clears throat) Yes', ' Yes'],
  ['*lächelt* Gern.', ' Gern.'],
  ['(räuspert sich) Also', ' Also'],
  ['[Kurze Pause] Moment', ' Moment'],
  ['*sonríe* Claro.', ' Claro.'],
  ['(rire) Bien sûr.', ' Bien sûr.'],
])('StageDirectionFilter of %j leaves %j', (text, expected) => {
  expect(filtered(text)).toBe(expected);
});

test.each([
  'Bring *your* ID, it is **very** important.',
  'Press 1 (one) or 2 (two).',
  'Call(s) cost 3*4 euros.',
  '(Pauses of 15 minutes are paid.)',
  'Breaks (pauses are paid) and symptoms (smiles hurt).',
  'We close on Mondays (silence is golden).',
  'See [our page](https://example.com/pause).',
  'He *really* means it (sincerely).',
  'Our room [the large one] is free.',
  'A text (laughs without an end',
  'Kund*innen und Mitarbeiter(innen)',
])('StageDirectionFilter leaves %j whole', (text) => {
  expect(filtered(text)).toBe(text);
});

test('StageDirectionFilter gives the same however the text is cut', () => {
  const parts = [
    '*',
    '(',
    ')',
    '[',
    ']',
    '_',
    'smiles',
    'pause',
    'softly',
    ' ',
    '.',
    '\n',
    'a',
    '1',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 40 }), (words) => {
      expect(filtered(...words)).toBe(filtered(words.join('')));
      expect(filtered(...words.join(''))).toBe(filtered(words.join('')));
    }),
  );
});

test('StageDirectionFilter holds nothing back that cannot be a direction', () => {
  const filter = new StageDirectionFilter();

  expect(filter.push('We open (on Monday')).toBe('We open (on Monday');
});
