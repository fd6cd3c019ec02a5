/** What can be said about a call without a language model; pure */
import type { CallAnalysis } from '../../domain/call/analysis.ts';
import type { TranscriptEntry } from '../../domain/call/call.ts';
import { cutTo, onOneLine } from './analysis-text.ts';
import { moodOf, NEUTRAL } from './lexicon-sentiment.ts';

/** Enough for the sentence in which callers say why they call. */
const SUMMARY_CHARS_MAX = 200;

/** The analysis of a call on which the caller said nothing; undefined when there is something to analyse. */
export function analysisOfSilence(
  transcript: readonly TranscriptEntry[],
): CallAnalysis | undefined {
  if (wordsOfCaller(transcript) !== '') return undefined;
  const summary = transcript.length === 0 ? 'Nobody said anything.' : 'The caller said nothing.';
  return { ...NEUTRAL, summary, intentDetected: 'other' };
}

/**
 * The caller's own first words as the summary, and a mood by a list of words.
 *
 * @param language BCP 47; undefined when nobody knows it any more.
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
