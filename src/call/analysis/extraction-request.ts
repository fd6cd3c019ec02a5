/** Asks a language model for the fields that an agent extracts from its calls, and whether the call met its criteria. */
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call, CallSuccess, TranscriptEntry } from '../../domain/call/call.ts';
import { argumentFaults } from '../../domain/tool/argument-schema.ts';
import { isObject, type JsonObject } from '../../lib/unknown-value.ts';
import { type ChatMessage, LanguageModelError } from '../../llm/language-model.ts';
import { cutTo, onOneLine } from './analysis-fallback.ts';
import {
  askForText,
  fenced,
  jsonIn,
  type Parts,
  RubbishError,
  TRANSCRIPT_RULES,
} from './model-question.ts';

/** Extraction settings of an agent: fields and success criteria. */
export type Wanted = Pick<Agent, 'extract' | 'successCriteria'>;

/** Result of an extraction: values of the fields, and success. */
export type Extraction = Pick<Call, 'extracted' | 'success'>;

/** An extraction, or why there is none: without words of the call. */
export type ExtractionOutcome = Extraction & { readonly problem?: string };

interface Question {
  readonly transcript: readonly TranscriptEntry[];
  readonly wanted: Wanted;
  /** BCP 47, for sentences; undefined leaves it to the model. */
  readonly language: string | undefined;
  readonly signal: AbortSignal;
  /** How long an answer is of use, from now. */
  readonly remainingMs: () => number;
  /** Whether fixed rules may not answer, whose values are made up; false unless given. */
  readonly needsReading?: boolean;
}

/** Result where nothing was asked for, or nothing was found. */
export const NO_EXTRACTION: Extraction = { extracted: null, success: null };

/** In characters. */
const REASON_CHARS_MAX = 300;

/** Maximum number of faults that the model and the operator are shown. */
const FAULTS_MAX = 5;

/**
 * Asks the model, and a second time with the validation errors. Where the model fails, nothing is extracted and `problem` says why.
 *
 * @throws the signal's reason when aborted.
 */
export async function extract(parts: Parts, question: Question): Promise<ExtractionOutcome> {
  const { wanted, signal, remainingMs } = question;
  if (wanted.extract === null && wanted.successCriteria === null) return NO_EXTRACTION;
  const first = await ask(parts, question, []);
  if (!('faults' in first)) return first;
  if (remainingMs() <= 0) return failed(first.faults);
  const second = await ask(parts, question, correction(first));
  signal.throwIfAborted();
  return 'faults' in second ? failed(second.faults) : second;
}

/** An answer that cannot be used. */
interface WrongAnswer {
  readonly text: string;
  readonly faults: readonly string[];
}

async function ask(
  parts: Parts,
  { transcript, wanted, language, signal, remainingMs, needsReading = false }: Question,
  correction: readonly ChatMessage[],
): Promise<ExtractionOutcome | WrongAnswer> {
  const messages: readonly ChatMessage[] = [
    { role: 'system', content: instructions(wanted, language) },
    { role: 'user', content: fenced(transcript) },
    ...correction,
  ];
  try {
    const schema = answerSchema(wanted);
    const request = { messages, schema, signal, remainingMs, needsReading };
    const text = await askForText(parts, request);
    return readExtraction(text, wanted);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RubbishError) return { text: '', faults: ['the answer is too long'] };
    const why = error instanceof LanguageModelError ? 'does not answer' : 'takes too long';
    return { ...NO_EXTRACTION, problem: `the language model ${why}` };
  }
}

/** Pure. @returns what the answer says, or what is wrong with it. */
export function readExtraction(text: string, wanted: Wanted): Extraction | WrongAnswer {
  const answer = jsonIn(text);
  if (!isObject(answer)) return { text, faults: ['expected one JSON object'] };
  const extracted = wanted.extract === null ? null : withoutNulls(answer.extracted, wanted.extract);
  const success = wanted.successCriteria === null ? null : successIn(answer.success);
  const faults = [
    ...(wanted.extract === null ? [] : fieldFaults(extracted, wanted.extract)),
    ...(success === undefined ? ['"success" must have "met" (boolean) and "reason" (text)'] : []),
  ];
  if (faults.length > 0 || success === undefined) return { text, faults };
  return { extracted: extracted as JsonObject | null, success };
}

function fieldFaults(extracted: unknown, schema: JsonObject): readonly string[] {
  return isObject(extracted)
    ? argumentFaults(extracted, schema)
    : ['"extracted" must be an object'];
}

function successIn(value: unknown): CallSuccess | undefined {
  if (!isObject(value)) return undefined;
  const { met, reason } = value;
  if (typeof met !== 'boolean' || typeof reason !== 'string') return undefined;
  const tidied = cutTo(onOneLine(reason), REASON_CHARS_MAX);
  return tidied === '' ? undefined : { met, reason: tidied };
}

function correction({ text, faults }: WrongAnswer): readonly ChatMessage[] {
  const wrong = faults.slice(0, FAULTS_MAX).join('; ');
  return [
    { role: 'assistant', content: text },
    {
      role: 'user',
      content: `Your answer cannot be used: ${wrong}. Answer again, with the whole object.`,
    },
  ];
}

function failed(faults: readonly string[]): ExtractionOutcome {
  return { ...NO_EXTRACTION, problem: faults.slice(0, FAULTS_MAX).join('; ') };
}

function instructions({ extract, successCriteria }: Wanted, language: string | undefined): string {
  const inLanguage = language === undefined ? '' : `, in the language "${language}"`;
  return [
    'You read the transcript of a telephone call that is over, and answer with one JSON object and nothing else:',
    ...(extract === null
      ? []
      : [
          `"extracted": an object that follows this JSON Schema: ${JSON.stringify(extract)}. Take values from the call alone: where it does not tell one, leave an optional field out.`,
        ]),
    ...(successCriteria === null
      ? []
      : [
          `"success": {"met": true or false, "reason": one sentence${inLanguage}}: whether the call met this: ${JSON.stringify(successCriteria)}`,
        ]),
    TRANSCRIPT_RULES,
  ].join('\n');
}

const SUCCESS_SCHEMA = {
  type: 'object',
  properties: { met: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['met', 'reason'],
  additionalProperties: false,
};

function answerSchema({ extract, successCriteria }: Wanted): JsonObject {
  const properties = {
    ...(extract === null ? {} : { extracted: strictSchema(extract) }),
    ...(successCriteria === null ? {} : { success: SUCCESS_SCHEMA }),
  };
  const required = Object.keys(properties);
  return { type: 'object', properties, required, additionalProperties: false };
}

/**
 * The schema for servers with structured outputs: every property is required, optional ones may be null. Lengths and
 * patterns are left out, because some servers refuse them; the answer is checked by the customer's own schema.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs
 */
export function strictSchema(schema: JsonObject): JsonObject {
  const { type, description, enum: choices, minimum, maximum, items, properties } = schema;
  const kept = Object.entries({ type, description, enum: choices, minimum, maximum });
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return {
    ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
    ...(isObject(items) ? { items: strictSchema(items) } : {}),
    ...(type === 'object' || isObject(properties)
      ? objectOf(isObject(properties) ? properties : {}, required)
      : {}),
  };
}

function objectOf(properties: JsonObject, required: readonly unknown[]): JsonObject {
  const strict = Object.entries(properties).map(([name, part]) => {
    const schema = strictSchema(isObject(part) ? part : {});
    return [name, required.includes(name) ? schema : { anyOf: [schema, { type: 'null' }] }];
  });
  return {
    properties: Object.fromEntries(strict),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Leaves null out where a property is not required: a model writes null for a value that the call does not mention. */
function withoutNulls(value: unknown, schema: JsonObject): unknown {
  if (Array.isArray(value) && isObject(schema.items)) {
    const { items } = schema;
    return value.map((one) => withoutNulls(one, items as JsonObject));
  }
  if (!isObject(value) || !isObject(schema.properties)) return value;
  const { properties } = schema;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const kept = Object.entries(value).filter(
    ([name, part]) => part !== null || required.includes(name),
  );
  return Object.fromEntries(
    kept.map(([name, part]) => {
      const partSchema = Object.hasOwn(properties as object, name)
        ? (properties as JsonObject)[name]
        : undefined;
      return [name, isObject(partSchema) ? withoutNulls(part, partSchema) : part];
    }),
  );
}
