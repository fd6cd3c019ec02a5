/** Asks a language model about an ended call within a time limit, and reads the JSON object of its answer. */
import { type Clock, TimeLimit, unlessAborted } from '../../lib/clock.ts';
import { jsonOf } from '../../lib/unknown-value.ts';
import type { LanguageModel, ModelRequest } from '../../llm/language-model.ts';

/** How long one request may take. */
const REQUEST_MS_MAX = 8000;

/** A whole answer is below 1,000; what goes on longer is no answer, and is not waited for. */
const ANSWER_CHARS_MAX = 8000;

/** Whom to ask. */
export interface Parts {
  readonly model: LanguageModel;
  readonly clock: Clock;
}

/** The model answered, but not with what it was asked for. */
export class RubbishError extends Error {
  override readonly name = 'RubbishError';
}

/**
 * @param request.remainingMs how long an answer is of use, from now.
 * @returns the whole answer.
 * @throws {RubbishError} when it is too long.
 * @throws {LanguageModelError}
 * @throws {Error} when no answer came in time; the signal's reason when aborted.
 */
export async function askForText(
  { model, clock }: Parts,
  request: ModelRequest & { readonly remainingMs: () => number },
): Promise<string> {
  const { messages, schema, needsReading = false, remainingMs } = request;
  const limitMs = Math.min(REQUEST_MS_MAX, remainingMs());
  using limit = new TimeLimit(clock, limitMs, {
    signal: request.signal,
    reason: `no analysis came within ${Math.round(limitMs)} ms`,
  });
  const { signal } = limit;
  try {
    const asked = { messages, ...(schema && { schema }), needsReading, signal };
    return await unlessAborted(wholeText(model, asked), signal);
  } finally {
    // A model that was refused in the middle of its answer must not keep its server busy.
    limit.abort(new Error('the analysis is over'));
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

/** The object between the first and the last brace, thoughts left out; undefined when there is none. */
export function jsonIn(text: string): unknown {
  const said = text.replace(/<think>.*?<\/think>/gs, '');
  const [first, last] = [said.indexOf('{'), said.lastIndexOf('}')];
  if (first === -1 || last < first) return undefined;
  return jsonOf(said.slice(first, last + 1));
}
