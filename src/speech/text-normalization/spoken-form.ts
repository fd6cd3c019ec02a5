/** Turns a text as it is written into the text that a voice is to read, and keeps which part became which; pure */

import {
  type Pronunciation,
  type Synthesizer,
  speakingBy,
  type WordEnds,
} from '../tts/pool/synthesizer.ts';
import type { Rule } from './language-pack.ts';
import { languageRules } from './language-rules.ts';
import { alternatives } from './quantity-rules.ts';
import { type Replacement, replacements, spacedFrom } from './replacements.ts';

/** Longer texts are left as they are from here on. */
const WRITTEN_CHARACTERS_MAX = 8000;

/** Length limit of the spoken form: text that would exceed it stays as it is written. */
const SPOKEN_CHARACTERS_MAX = 16_000;

/** A part of the text. Parts follow each other without a gap. */
interface Part {
  /** End in the written text. */
  readonly writtenEnd: number;
  readonly spokenEnd: number;
}

export interface SpokenForm {
  readonly text: string;
  /**
   * From when each word of the spoken text ends to when each word of the written one does.
   *
   * @param spoken undefined where the engine does not know: words last as long as they are spelt.
   */
  wordEnds(spoken?: WordEnds): WordEnds;
}

/**
 * Reads out numbers, dates, money, addresses, abbreviations and the like in English, German, Spanish and French;
 * other languages are left to the engine. Pronunciations come first, in every language.
 *
 * @param options.language BCP 47.
 */
export function spokenForm(
  written: string,
  options: { readonly language: string; readonly pronunciations?: readonly Pronunciation[] },
): SpokenForm {
  const { language, pronunciations = [] } = options;
  const lexicon = pronunciations.length === 0 ? [] : [lexiconRule(pronunciations)];
  const text = written.slice(0, WRITTEN_CHARACTERS_MAX);
  const found = replacements(text, [...lexicon, ...languageRules(language)]);
  return assemble(written, found);
}

function assemble(written: string, found: readonly Replacement[]): SpokenForm {
  let text = '';
  let at = 0;
  const parts: Part[] = [];
  for (const { from, to, spoken } of found) {
    if (text.length + (from - at) + spoken.length > SPOKEN_CHARACTERS_MAX) break;
    text += written.slice(at, from);
    parts.push({ writtenEnd: from, spokenEnd: text.length });
    text += spacedFrom(text, spoken);
    if (/^[\p{L}\p{N}]/u.test(written.slice(to, to + 2)) && /[\p{L}\p{N}]$/u.test(spoken))
      text += ' ';
    parts.push({ writtenEnd: to, spokenEnd: text.length });
    at = to;
  }
  text += written.slice(at);
  parts.push({ writtenEnd: written.length, spokenEnd: text.length });
  return { text, wordEnds: (spoken) => wordEndsOf(written, text, parts, spoken) };
}

function wordEndsOf(
  written: string,
  spokenText: string,
  parts: readonly Part[],
  spoken: WordEnds | undefined,
): WordEnds {
  const known = pointsOf(spokenText, spoken);
  const offsets: Point[] = [
    { x: 0, y: 0 },
    ...parts.map((part) => ({ x: part.writtenEnd, y: part.spokenEnd })),
  ];
  return wordEndOffsets(written).map((end) => at(known, at(offsets, end)));
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Characters of the spoken text to shares of its audio. */
function pointsOf(text: string, ends: WordEnds | undefined): readonly Point[] {
  const offsets = wordEndOffsets(text);
  const isKnown = ends !== undefined && ends.length === offsets.length && offsets.length > 0;
  if (!isKnown)
    return [
      { x: 0, y: 0 },
      { x: Math.max(1, offsets.at(-1) ?? 1), y: 1 },
    ];
  return [{ x: 0, y: 0 }, ...offsets.map((x, index) => ({ x, y: ends[index] ?? 1 }))];
}

/** Ends of a text's words, in characters. */
function wordEndOffsets(text: string): number[] {
  return Array.from(text.matchAll(/\S+/g), (match) => match.index + match[0].length);
}

/** The line through the points, at `x`. Points ascend. */
function at(points: readonly Point[], x: number): number {
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.x ?? 0) >= x) high = middle;
    else low = middle + 1;
  }
  const end = points[low] ?? { x: 0, y: 1 };
  const start = points[low - 1] ?? end;
  const width = end.x - start.x;
  if (width === 0 || x > end.x) return end.y;
  return start.y + ((end.y - start.y) * (x - start.x)) / width;
}

const rules = new WeakMap<readonly Pronunciation[], Rule>();

/**
 * Whole words only. Case matters where the written form has capitals: `us` is not `US`. Longer forms go before shorter
 * ones, so that `New York Times` is not `New York` and a word.
 */
function lexiconRule(pronunciations: readonly Pronunciation[]): Rule {
  const known = rules.get(pronunciations);
  if (known !== undefined) return known;
  const rule = makeRule(pronunciations);
  rules.set(pronunciations, rule);
  return rule;
}

function makeRule(pronunciations: readonly Pronunciation[]): Rule {
  const exact = new Map<string, string>();
  const anyCase = new Map<string, string>();
  for (const { written, spoken } of pronunciations) {
    const hasCapitals = written !== written.toLowerCase();
    if (hasCapitals) exact.set(written, spoken);
    else anyCase.set(written, spoken);
  }
  const names = alternatives(pronunciations.map(({ written }) => written));
  return {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${names})(?![\\p{L}\\p{N}])`, 'giu'),
    say: ({ parts: [match = ''] }) => exact.get(match) ?? anyCase.get(match.toLowerCase()) ?? null,
  };
}

/** Speaks the spoken form by another engine. Maps the engine's word ends to the words of the written text. */
export function spokenSynthesizer(synthesizer: Synthesizer): Synthesizer {
  return speakingBy(synthesizer, (request) => {
    const { pronunciations = [], onWords, ...rest } = request;
    const form = spokenForm(request.text, { language: request.language, pronunciations });
    const spoken = { ...rest, text: form.text };
    if (onWords === undefined) return synthesizer.speak(spoken);
    onWords(form.wordEnds());
    return synthesizer.speak({ ...spoken, onWords: (ends) => onWords(form.wordEnds(ends)) });
  });
}
