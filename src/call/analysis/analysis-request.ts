/** Asks a language model about a call that is over, within a limited time. */
import type { CallAnalysis } from '../../domain/call/analysis.ts';
import type { TranscriptEntry } from '../../domain/call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LanguageModel, ModelRequest } from '../../llm/language-model.ts';
import { RubbishError, readAnswer } from './analysis-answer.ts';
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
