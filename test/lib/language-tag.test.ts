import { expect, test } from 'vitest';
import { isLanguageTag, languageOf } from '../../src/lib/language-tag.ts';

test.each([
  ['en-US', 'en'],
  ['ES', 'es'],
  ['pt_BR', 'pt'],
  ['', ''],
])('languageOf finds the language of "%s"', (tag, language) => {
  expect(languageOf(tag)).toBe(language);
});

test.each([
  ['en-US', true],
  ['pt', true],
  ['zh-Hant-TW', true],
  ['en_US', false],
  ['', false],
  ['e', false],
  ['en-US; rm', false],
])('isLanguageTag(%j) is %s', (text, expected) => {
  expect(isLanguageTag(text)).toBe(expected);
});
