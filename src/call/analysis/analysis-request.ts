/** Asks a language model about a call that is over, within a limited time. */
import { z } from 'zod';
import type { CallAnalysis, TranscriptEntry } from '../../domain/call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LanguageModel, ModelRequest } from '../../llm/language-model.ts';
import { cutTo, onOneLine } from './analysis-fallback.ts';
import { analysisRequest } from './analysis-prompt.ts';

/** How long one request may take. */
const REQUEST_MS_MAX = 8000;

/** A whole answer is below 1,000; what goes on longer is no answer, and is not waited for. */
const ANSWER_CHARS_MAX = 8000;

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

interface Parts {
  readonly model: LanguageModel;
  readonly clock: Clock;
}

/**
 * Asks for an analysis, and once more when the answer is rubbish: it is partly chance.
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

async function askInTime({ model, clock }: Parts, question: Question): Promise<CallAnalysis> {
  const limitMs = Math.min(REQUEST_MS_MAX, question.remainingMs());
  const timeout = new AbortController();
  const cancel = clock.after(limitMs, () => {
    timeout.abort(new Error(`no analysis came within ${Math.round(limitMs)} ms`));
  });
  const signal = AbortSignal.any([timeout.signal, question.signal]);
  try {
    const request = { ...analysisRequest(question.transcript, question), signal };
    return readAnswer(await beforeAbort(wholeText(model, request), signal), question.intents);
  } finally {
    cancel();
    // A model that was refused in the middle of its answer must not keep its server busy.
    timeout.abort();
  }
}

/** Does not wait for a model that ignores the signal. */
async function beforeAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function wholeText(model: LanguageModel, request: ModelRequest): Promise<string> {
  let text = '';
  for await (const event of model.stream(request)) {
    if (event.kind !== 'text') continue;
    text += event.text;
    if (text.length > ANSWER_CHARS_MAX) {
      throw new RubbishError(`Cannot use the analysis: longer than ${ANSWER_CHARS_MAX} characters`);
    }
  }
  return text;
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
