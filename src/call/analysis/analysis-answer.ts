/** Reads what a language model answered about a call; pure */
import { z } from 'zod';
import type { CallAnalysis } from '../../domain/call/analysis.ts';
import { cutTo, onOneLine } from './analysis-text.ts';

/** In characters, as the event's readers may rely on. */
export const SUMMARY_CHARS_MAX = 600;

const answerSchema = z.object({
  summary: z.string().transform(tidied).pipe(z.string().min(1)),
  sentiment: z
    .string()
    .trim()
    .toLowerCase()
    .pipe(z.enum(['positive', 'neutral', 'negative'])),
  sentimentScore: z.number().min(0).max(1),
  intent: z.string(),
});

/** The model answered, but not with an analysis. */
export class RubbishError extends Error {
  override readonly name = 'RubbishError';
}

/**
 * Reads an analysis out of an answer; words around the JSON object are passed over.
 *
 * @throws {RubbishError} saying what is wrong, without the answer's words.
 */
export function readAnswer(text: string, intents: readonly string[]): CallAnalysis {
  const parsed = answerSchema.safeParse(jsonIn(text));
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole');
    throw new RubbishError(`Cannot use the analysis: wrong ${fields.join(', ')}`);
  }
  const { intent, ...rest } = parsed.data;
  if (!intents.includes(intent)) throw new RubbishError('Cannot use the analysis: wrong intent');
  return { ...rest, intentDetected: intent };
}

/** The object between the first and the last brace, thoughts left out; undefined when there is none. */
function jsonIn(text: string): unknown {
  const said = text.replace(/<think>.*?<\/think>/gs, '');
  const [first, last] = [said.indexOf('{'), said.lastIndexOf('}')];
  if (first === -1 || last < first) return undefined;
  try {
    return JSON.parse(said.slice(first, last + 1));
  } catch {
    // As good as none: the caller asks again.
    return undefined;
  }
}

function tidied(summary: string): string {
  return cutTo(onOneLine(summary), SUMMARY_CHARS_MAX);
}
