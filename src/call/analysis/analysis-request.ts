/** Asks a language model for summary, sentiment and intent of an ended call, within a time limit. */

import { z } from 'zod';
import {
  type CallAnalysis,
  DEFAULT_INTENTS,
  type TranscriptEntry,
} from '../../domain/call/call.ts';
import type { ModelRequest } from '../../llm/language-model.ts';
import { cutTo, onOneLine } from './analysis-fallback.ts';
import {
  askForText,
  fenced,
  jsonIn,
  type Parts,
  RubbishError,
  TRANSCRIPT_RULES,
} from './model-question.ts';

interface Question {
  readonly transcript: readonly TranscriptEntry[];
  /** Labels to choose from. */
  readonly intents: readonly string[];
  /** BCP 47, for the summary; undefined leaves it to the model. */
  readonly language: string | undefined;
  readonly signal: AbortSignal;
  /** How long an answer is of use, from now. */
  readonly remainingMs: () => number;
}

/**
 * Asks for an analysis, and a second time where the answer is unusable: the answer is partly chance.
 *
 * @throws {RubbishError} when the second answer is no analysis either.
 * @throws {LanguageModelError}
 * @throws {Error} when no answer came in time; the signal's reason when aborted.
 */
export async function askForAnalysis(parts: Parts, question: Question): Promise<CallAnalysis> {
  try {
    return await askInTime(parts, question);
  } catch (error) {
    if (!(error instanceof RubbishError) || question.remainingMs() <= 0) throw error;
    return await askInTime(parts, question);
  }
}

async function askInTime(parts: Parts, question: Question): Promise<CallAnalysis> {
  const { schema, messages } = analysisRequest(question.transcript, question);
  return readAnswer(await askForText(parts, { ...question, messages, schema }), question.intents);
}

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

function tidied(summary: string): string {
  return cutTo(onOneLine(summary), SUMMARY_CHARS_MAX);
}

/**
 * Puts together one request for an analysis.
 *
 * @param options.intents labels to choose from.
 * @param options.language BCP 47, for the summary; undefined leaves it to the model.
 */
export function analysisRequest(
  transcript: readonly TranscriptEntry[],
  options: { readonly intents: readonly string[]; readonly language: string | undefined },
): Required<Pick<ModelRequest, 'messages' | 'schema'>> {
  return {
    messages: [
      { role: 'system', content: instructions(options) },
      { role: 'user', content: fenced(transcript) },
    ],
    schema: schemaOf(options.intents),
  };
}

/** Labels for one agent's calls: those it has had, then the default ones. `other` is the last resort, so it is last. */
export function intentsToChooseFrom(seen: readonly string[]): readonly string[] {
  const all = new Set([...seen, ...DEFAULT_INTENTS]);
  all.delete('other');
  return [...all, 'other'];
}

function instructions(options: {
  readonly intents: readonly string[];
  readonly language: string | undefined;
}): string {
  const { intents, language } = options;
  return [
    'You read the transcript of a telephone call that is over, and answer with one JSON object and nothing else:',
    `"summary": what the caller wanted and what came of it, in one to three sentences${language === undefined ? '' : ` in the language "${language}"`}.`,
    '"sentiment": the mood of the caller: "positive", "neutral" or "negative".',
    '"sentimentScore": the same as a number from 0 (very bad) to 1 (very good); 0.5 is neutral.',
    `"intent": why the caller called, one of: ${intents.join(', ')}.`,
    TRANSCRIPT_RULES,
  ].join('\n');
}

/**
 * No length is set for the summary: servers that turn a schema into a grammar take long over counted characters, or
 * refuse them. It is cut when the answer is read.
 */
function schemaOf(intents: readonly string[]): Readonly<Record<string, unknown>> {
  return {
    type: 'object',
    properties: {
      summary: { type: 'string' },
      sentiment: { type: 'string', enum: ['positive', 'neutral', 'negative'] },
      sentimentScore: { type: 'number', minimum: 0, maximum: 1 },
      intent: { type: 'string', enum: intents },
    },
    required: ['summary', 'sentiment', 'sentimentScore', 'intent'],
    additionalProperties: false,
  };
}
