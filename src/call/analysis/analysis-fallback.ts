/** Call analysis without a language model: first words as summary, sentiment by AFINN-165; pure */
import Sentiment from 'sentiment';
import type { CallAnalysis, TranscriptEntry } from '../../domain/call/call.ts';

/** Enough for the sentence in which callers say why they call. */
const SUMMARY_CHARS_MAX = 200;

/** The analysis of a call on which the caller said nothing; undefined when there is something to analyse. */
export function analysisOfSilence(
  transcript: readonly TranscriptEntry[],
): CallAnalysis | undefined {
  if (wordsOfCaller(transcript) !== '') return undefined;
  const summary = transcript.length === 0 ? 'Neither party spoke.' : 'The caller said nothing.';
  return { ...NEUTRAL, summary, intentDetected: 'other' };
}

/**
 * The caller's own first words as the summary, and a mood by a list of words.
 *
 * @param language BCP 47; undefined when unknown.
 */
export function plainAnalysis(
  transcript: readonly TranscriptEntry[],
  language: string | undefined,
): CallAnalysis {
  const words = wordsOfCaller(transcript);
  return {
    ...moodOf(words, language),
    summary: cutTo(words, SUMMARY_CHARS_MAX),
    intentDetected: 'other',
  };
}

function wordsOfCaller(transcript: readonly TranscriptEntry[]): string {
  return transcript
    .filter(({ role }) => role === 'user')
    .map(({ text }) => onOneLine(text))
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
    .join(' ');
}

/** Cuts a text, not in the middle of a character that needs two units, and shows that it was cut. */
export function cutTo(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const kept = text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept.trimEnd()}…`;
}

/** Puts a text on one line, without control characters and broken surrogates. */
export function onOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** A caller's mood: the label that customers see, and the number that analytics averages. */
type Mood = Pick<CallAnalysis, 'sentiment' | 'sentimentScore'>;

/** Mood of a call whose words reveal none. */
const NEUTRAL: Mood = { sentiment: 'neutral', sentimentScore: 0.5 };

/** Common words of telephone calls that carry no sentiment, though AFINN values most of them. */
const FORMULAS = ['yes', 'no', 'yeah', 'hello', 'please', 'help', 'want', 'like', 'stop', 'matter'];

const FORMULA_VALUES = Object.fromEntries(FORMULAS.map((word) => [word, 0]));

/** How slowly a sum of word values, each from -5 to 5, comes near the ends of the scale: VADER's constant. */
const NORMALIZATION = 15;

/** Nearer to the middle than this is no mood at all: one "thanks" (2) lies inside, one "great" (3) outside. */
const NEUTRAL_WIDTH = 0.25;

const lexicon = new Sentiment();

/**
 * Scores the sentiment of a caller's words.
 *
 * @param language BCP 47. The list knows English only: the words of every other language are neutral.
 * @see Nielsen, "A new ANEW" (AFINN-165), and Hutto and Gilbert, "VADER" (2014), for the normalization
 */
export function moodOf(words: string, language: string | undefined): Mood {
  if (language === undefined || !/^en\b/i.test(language)) return NEUTRAL;
  const { score } = lexicon.analyze(words, { extras: FORMULA_VALUES });
  const sentimentScore = 0.5 + score / (2 * Math.sqrt(score * score + NORMALIZATION));
  const distance = sentimentScore - 0.5;
  if (Math.abs(distance) < NEUTRAL_WIDTH) return { sentiment: 'neutral', sentimentScore };
  return { sentiment: distance > 0 ? 'positive' : 'negative', sentimentScore };
}
