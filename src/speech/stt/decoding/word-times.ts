/** From tokens to words with their confidence and time, aligned to the audio by the decoder's cross-attention; pure */

import type { RecognizedWord } from '../pool/recognizer.ts';
import type { DecodedToken } from './greedy-decoder.ts';

/** How a model's tokens make text. */
interface WordTokens {
  startsWord(id: number): boolean;
  decode(ids: readonly number[]): string;
}

/** When things were said, in milliseconds from the start of the utterance's audio. */
export type SpokenTimes =
  /** When each token began and, last, when the words ended: one more than there are tokens. */
  | { readonly kind: 'tokens'; readonly startsMs: readonly number[] }
  /** Time of the whole only: each word gets as much of it as it has letters. */
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

/** One step of the encoder: two frames. */
const STEP_MS = 20;

/** Width of OpenAI's median filter. */
const MEDIAN_STEPS = 7;

/**
 * Finds the start of each token: the cheapest path through the attention of all tokens. Unlike OpenAI's, it uses the voiced
 * span only, because silence resembles any token.
 *
 * @param rows for each token the shares of all heads: head by head, step by step.
 * @param heads how many.
 * @param voiced milliseconds from the start of the audio.
 * @returns milliseconds from the start of the audio, one number for each row, and then the end.
 * @see openai/whisper, timing.py: `find_alignment` and `dtw`
 */
export function tokenStarts(
  rows: readonly Float32Array[],
  heads: number,
  voiced: { readonly startMs: number; readonly endMs: number },
): readonly number[] {
  const { startMs, endMs } = voiced;
  const stepsInAll = (rows[0]?.length ?? 0) / Math.max(1, heads);
  const firstStep = Math.floor(startMs / STEP_MS);
  const steps = Math.min(stepsInAll, Math.ceil(endMs / STEP_MS)) - firstStep;
  if (steps < 1) return [...rows.map(() => startMs), endMs];
  const shares = rows.map(() => new Float64Array(steps));
  for (let head = 0; head < heads; head += 1) {
    const start = head * stepsInAll + firstStep;
    const parts = rows.map((row) => Float64Array.from(row.subarray(start, start + steps)));
    standardize(parts, steps);
    parts.forEach((part, row) => {
      addSmoothed(part, shares[row] ?? new Float64Array(steps));
    });
  }
  const starts = cheapestPath(shares, steps).map((step) => (firstStep + step) * STEP_MS);
  return [...starts, endMs];
}

/** Normalises each step to mean 0 and deviation 1 over the tokens: attention that all tokens share carries no timing. */
function standardize(parts: readonly Float64Array[], steps: number): void {
  for (let step = 0; step < steps; step += 1) {
    const column = parts.map((part) => part[step] as number);
    const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
    const variance = column.reduce((sum, value) => sum + (value - mean) ** 2, 0) / column.length;
    const deviation = Math.sqrt(variance) || 1;
    for (const part of parts) part[step] = ((part[step] as number) - mean) / deviation;
  }
}

/** Adds the running median; the signal is mirrored at both ends. */
function addSmoothed(part: Float64Array, sum: Float64Array): void {
  const reach = (MEDIAN_STEPS - 1) / 2;
  const last = part.length - 1;
  for (let step = 0; step <= last; step += 1) {
    const window: number[] = [];
    for (let offset = -reach; offset <= reach; offset += 1) {
      const mirrored = Math.abs(step + offset);
      const place = mirrored > last ? 2 * last - mirrored : mirrored;
      window.push(part[Math.max(0, place)] as number);
    }
    window.sort((one, other) => one - other);
    sum[step] = (sum[step] as number) + (window[reach] as number);
  }
}

/** Moves of a path that change only the token, or only the step. */
const FROM_TOKEN = 1;
const FROM_STEP = 2;

/** Dynamic time warping over the shares, where more is cheaper; gives the first step of each row. */
function cheapestPath(shares: readonly Float64Array[], steps: number): readonly number[] {
  const trace = shares.map(() => new Uint8Array(steps));
  let above = new Float64Array(steps + 1).fill(Number.POSITIVE_INFINITY);
  above[0] = 0;
  shares.forEach((row, token) => {
    const costs = new Float64Array(steps + 1).fill(Number.POSITIVE_INFINITY);
    for (let step = 0; step < steps; step += 1) {
      const ways = [above[step], above[step + 1], costs[step]] as [number, number, number];
      const best = Math.min(...ways);
      const way = ways.indexOf(best);
      (trace[token] as Uint8Array)[step] = way;
      costs[step + 1] = best - (row[step] as number);
    }
    above = costs;
  });
  return firstSteps(trace, steps);
}

function firstSteps(trace: readonly Uint8Array[], steps: number): readonly number[] {
  const starts = new Array<number>(trace.length).fill(0);
  let [token, step] = [trace.length - 1, steps - 1];
  while (token >= 0 && step >= 0) {
    starts[token] = step;
    const way = trace[token]?.[step];
    if (way !== FROM_STEP) token -= 1;
    if (way !== FROM_TOKEN) step -= 1;
  }
  return starts;
}
