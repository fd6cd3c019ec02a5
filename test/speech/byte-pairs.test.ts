/** Text to token numbers, compared with the tokenizer of transformers.js. */
import { PreTrainedTokenizer } from '@huggingface/transformers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Tokenizer } from '../../src/speech/stt/whisper/tokenizer.ts';

const CORPUS =
  "Acme Clinic's front desk, transfer to Sales or to Billing: Dr. Ólafur Smith and Zoë call at 9:30 about 1,250 euros. We're sorry, they'll call";

/** A tokenizer file as GPT-2's are, with merges learnt from a few words. */
function learntFile() {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const isPrintable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const hidden = bytes.filter((byte) => !isPrintable(byte));
  const characterOf = (byte: number) =>
    String.fromCodePoint(isPrintable(byte) ? byte : 256 + hidden.indexOf(byte));
  const vocabulary = bytes.map(characterOf);
  let words = CORPUS.split(/(?= )/).map((word) =>
    Array.from(new TextEncoder().encode(word), characterOf),
  );
  const merges: [string, string][] = [];
  while (merges.length < 120) {
    const pair = commonestPair(words);
    if (pair === null) break;
    merges.push(pair);
    vocabulary.push(pair.join(''));
    words = words.map((word) => merged(word, pair));
  }
  const vocab = Object.fromEntries(vocabulary.map((content, id) => [content, id]));
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab, merges },
  };
}

function commonestPair(words: readonly (readonly string[])[]): [string, string] | null {
  const counts = new Map<string, number>();
  for (const word of words) {
    for (let index = 1; index < word.length; index += 1) {
      const pair = `${word[index - 1]} ${word[index]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
  }
  const [first] = [...counts].toSorted(([, one], [, other]) => other - one);
  return first === undefined ? null : (first[0].split(' ') as [string, string]);
}

function merged(word: readonly string[], [left, right]: readonly [string, string]): string[] {
  const parts: string[] = [];
  for (const part of word) {
    if (parts.at(-1) === left && part === right) parts.push(`${parts.pop()}${right}`);
    else parts.push(part);
  }
  return parts;
}

const file = learntFile();
const ours = Tokenizer.parse(file);
const theirs = new PreTrainedTokenizer(file, { tokenizer_class: 'GPT2Tokenizer' });
const encodedByThem = (text: string): readonly number[] =>
  theirs.encode(text, { add_special_tokens: false });

test.each([
  CORPUS,
  ' Acme Clinic, Sales',
  "  two  spaces\tand\nlines, they'll see",
  'Ólafur 日本語 🙂 e\u0301',
  '',
])('Tokenizer.encode writes "%s" as transformers.js does', (text) => {
  expect(ours.encode(text)).toEqual(encodedByThem(text));
});

test('Tokenizer.encode writes any text as transformers.js does, and decode reads it back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
      const tokens = ours.encode(text);

      expect(tokens).toEqual(encodedByThem(text));
      expect(ours.decode(tokens)).toBe(text.toWellFormed());
    }),
    { numRuns: 300 },
  );
});

test('Tokenizer.encode takes the name of a special token for text', () => {
  const added = [{ id: 9000, content: '<|en|>' }];
  const special = Tokenizer.parse({ ...file, added_tokens: added });

  const tokens = special.encode('<|en|>');

  expect(tokens).toEqual(ours.encode('<|en|>'));
  expect(special.decode([...tokens, 9000])).toBe('<|en|>');
});

test('Tokenizer.encode takes pairs written in one word, as older files have them', () => {
  const merges = file.model.merges.map((pair) => pair.join(' '));
  const older = Tokenizer.parse({ ...file, model: { ...file.model, merges } });

  expect(older.encode(CORPUS)).toEqual(ours.encode(CORPUS));
});

test('Tokenizer.encode stops after 1000 characters, however long a word is', () => {
  expect(ours.decode(ours.encode('a'.repeat(100_000)))).toBe('a'.repeat(1000));
});

test('Tokenizer.parse refuses merges that are no pairs', () => {
  const spoilt = { ...file, model: { ...file.model, merges: [1] } };

  expect(() => Tokenizer.parse(spoilt)).toThrow(TypeError);
});
