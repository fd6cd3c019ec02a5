/** The mood of English words by a list of words and their values, where no language model tells it; pure */
import Sentiment from 'sentiment';
import type { CallAnalysis } from '../../domain/call/analysis.ts';

/** A caller's mood: the label that customers see, and the number that analytics averages. */
export type Mood = Pick<CallAnalysis, 'sentiment' | 'sentimentScore'>;

/** What is said of a call whose words tell nothing. */
export const NEUTRAL: Mood = { sentiment: 'neutral', sentimentScore: 0.5 };

/** Everybody says these on the telephone, whatever the mood. AFINN gives most of them a value. */
const FORMULAS = ['yes', 'no', 'yeah', 'hello', 'please', 'help', 'want', 'like', 'stop', 'matter'];

const FORMULA_VALUES = Object.fromEntries(FORMULAS.map((word) => [word, 0]));

/** How slowly a sum of word values, each from -5 to 5, comes near the ends of the scale: VADER's constant. */
const NORMALIZATION = 15;

/** Nearer to the middle than this is no mood at all: one "thanks" (2) lies inside, one "great" (3) outside. */
const NEUTRAL_WIDTH = 0.25;

const lexicon = new Sentiment();

/**
 * Weighs what a caller said.
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
