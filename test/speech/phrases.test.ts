import { expect, test } from 'vitest';
import { samplePhrase } from '../../bench/lib/phrases.ts';
import { seededChance } from '../support/sip/sip-mutants.ts';
import { SPOKEN_PHRASES } from './spoken-phrases.ts';

/** Different words, without regard to capitals, that models/train/phrases.py can come to. */
const WORDS = 140;

/** Enough of them for every word to occur. */
const many = sample(3, 40_000);

/** A phrase with any digits: a certain number may not occur. */
const shapeOf = (text: string) =>
  text.replace(/zero|one|two|three|four|five|six|seven|eight|nine/gi, 'digit');
const shapes = new Set(many.map(shapeOf));

function sample(seed: number, count: number): string[] {
  const chance = seededChance(seed);
  return Array.from({ length: count }, () => samplePhrase(chance).text);
}

test('samplePhrase draws the same phrases for the same seed, and others for another', () => {
  expect(sample(1, 50)).toEqual(sample(1, 50));
  expect(sample(1, 50)).not.toEqual(sample(2, 50));
});

test.each(SPOKEN_PHRASES)('samplePhrase comes to "$text", as the training does', ({ text }) => {
  expect(shapes).toContain(shapeOf(text));
});

test('samplePhrase writes every phrase as a sentence, with words of the closed set alone', () => {
  const words = new Set(many.flatMap((text) => text.toLowerCase().match(/[\p{L}']+/gu) ?? []));

  expect(many.filter((text) => !/^[\p{Lu}¿].*[.?]$/u.test(text))).toEqual([]);
  expect(words.size).toBe(WORDS);
});
