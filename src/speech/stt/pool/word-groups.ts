/** From tokens to words with their confidence and time; pure */

import type { DecodedToken } from '../decoding/greedy-decoder.ts';
import type { RecognizedWord } from './recognizer.ts';

/** How a model's tokens make text. */
export interface WordTokens {
  startsWord(id: number): boolean;
  decode(ids: readonly number[]): string;
}

/** When things were said, in milliseconds from the start of the utterance's audio. */
export type SpokenTimes =
  /** When each token began and, last, when the words ended: one more than there are tokens. */
  | { readonly kind: 'tokens'; readonly startsMs: readonly number[] }
  /** Only when the whole was said: each word gets as much of it as it has letters. */
  | { readonly kind: 'span'; readonly startMs: number; readonly endMs: number };

/** Joins tokens to words; a word is as sure as its least sure token. */
export function wordsOf(
  tokenizer: WordTokens,
  tokens: readonly DecodedToken[],
  times: SpokenTimes,
): readonly RecognizedWord[] {
  const groups = groupsOf(tokenizer, tokens);
  const texts = groups.map(({ tokens: group }) =>
    tokenizer.decode(group.map(({ id }) => id)).trim(),
  );
  const spans = times.kind === 'tokens' ? spansOf(groups, times.startsMs) : shareOut(texts, times);
  return groups.map(({ tokens: group }, index) => ({
    text: texts[index] ?? '',
    confidence: Math.exp(Math.min(...group.map(({ logProbability }) => logProbability))),
    ...spans[index],
  }));
}

/** Number of leading words in common, ignoring case and punctuation. */
export function agreedWords(
  words: readonly RecognizedWord[],
  others: readonly RecognizedWord[],
): number {
  const differing = words.findIndex(
    ({ text }, index) => bareWord(text) !== bareWord(others[index]?.text ?? ''),
  );
  return differing < 0 ? words.length : differing;
}

interface Group {
  /** Number of its first token. */
  readonly first: number;
  readonly tokens: DecodedToken[];
}

function groupsOf(tokenizer: WordTokens, tokens: readonly DecodedToken[]): readonly Group[] {
  const groups: Group[] = [];
  tokens.forEach((token, first) => {
    const current = groups.at(-1);
    if (current === undefined || tokenizer.startsWord(token.id)) {
      groups.push({ first, tokens: [token] });
    } else current.tokens.push(token);
  });
  return groups;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

function spansOf(groups: readonly Group[], startsMs: readonly number[]): readonly Span[] {
  const at = (token: number) => Math.round(startsMs[token] ?? startsMs.at(-1) ?? 0);
  return groups.map(({ first, tokens }) => ({
    startMs: at(first),
    endMs: at(first + tokens.length),
  }));
}

function shareOut(texts: readonly string[], { startMs, endMs }: Span): readonly Span[] {
  const lengths = texts.map((text) => text.length + 1);
  const perLetter = (endMs - startMs) / Math.max(1, sum(lengths));
  return lengths.map((length, index) => {
    const from = startMs + sum(lengths.slice(0, index)) * perLetter;
    return { startMs: Math.round(from), endMs: Math.round(from + length * perLetter) };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function bareWord(text: string): string {
  return text.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}
