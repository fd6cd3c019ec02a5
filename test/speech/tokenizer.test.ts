/** Token numbers back to text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Tokenizer } from '../../src/speech/stt/whisper/tokenizer.ts';
import { TINY_WHISPER_DIR } from './spoken-phrases.ts';

const json = JSON.parse(readFileSync(join(TINY_WHISPER_DIR, 'tokenizer.json'), 'utf8'));
const tokenizer = Tokenizer.parse(json);
const idOf = (content: string): number => json.model.vocab[content];

test('Tokenizer joins bytes of several tokens to one character', () => {
  const text = tokenizer.decode([idOf('Ã'), idOf('Ń')]);

  expect(text).toBe('í');
});

test('Tokenizer writes a space before a word, and nothing for special tokens', () => {
  const end = tokenizer.specialToken('<|endoftext|>') ?? -1;

  const text = tokenizer.decode([idOf('Ġperson'), idOf('.'), end]);

  expect(text).toBe(' person.');
});

test('Tokenizer knows which tokens begin a word', () => {
  expect(tokenizer.startsWord(idOf('Ġperson'))).toBe(true);
  expect(tokenizer.startsWord(idOf('.'))).toBe(false);
  expect(tokenizer.startsWord(999_999)).toBe(false);
});

test('Tokenizer lists the languages, and no other special token', () => {
  expect([...tokenizer.languageTokens().keys()]).toEqual(['en', 'es']);
});

test('Tokenizer.parse takes any JSON: a tokenizer, or a TypeError', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(() => Tokenizer.parse(value)).toThrow(TypeError);
    }),
  );
});

test.each([
  { model: { vocab: {} } },
  { model: {}, added_tokens: [] },
  { model: { vocab: {} }, added_tokens: [{ id: '1', content: 'a' }] },
  { model: { vocab: {} }, added_tokens: [null] },
])('Tokenizer.parse refuses %j', (value) => {
  expect(() => Tokenizer.parse(value)).toThrow('model.vocab');
});
