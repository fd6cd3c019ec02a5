import { expect, test } from 'vitest';
import { tellingWords } from '../../src/domain/knowledge/passages.ts';

test.each([
  ['How much is the cleaning, the cleaning?', 'en-US', ['much', 'cleaning']],
  ['When did my son die?', 'en-GB', ['son', 'die']],
  ['Wann haben sie am Montag geöffnet?', 'de-AT', ['montag', 'geöffnet']],
  ['Où est votre cabinet ?', 'fr', ['cabinet']],
  ['What is it?', 'en', ['what', 'is', 'it']],
  ['What is it?', 'fi-FI', ['what', 'is', 'it']],
  ['…', 'en', []],
])('of "%s" in %s the words are looked for that tell something', (question, language, words) => {
  expect(tellingWords(question, language)).toEqual(words);
});
