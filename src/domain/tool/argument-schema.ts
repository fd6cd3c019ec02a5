/** JSON Schema of tool arguments: which part of it is taken, and the check of arguments by it */
import { createContext, Script } from 'node:vm';
import { isObject } from '../../lib/unknown-value.ts';
import type { ErrorDetail } from '../service-error.ts';

/** The part of a JSON Schema that arguments are checked by. */
export interface ArgumentSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: ArgumentSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, ArgumentSchema>>;
  readonly required?: readonly string[];
}

/** Bounds of a schema that a customer writes, as JSON; the model reads it at every turn. */
export const SCHEMA_LIMITS = { charsMax: 8000, depthMax: 5, patternCharsMax: 200 } as const;

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean'];

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isList: Check = (value) => Array.isArray(value) && value.length > 0;

/** Supported keywords, with the check of their values. Others are refused: the arguments would not be checked by them. */
const KEYWORDS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['type', (value) => isText(value) && TYPES.includes(String(value))],
  ['title', isText],
  ['description', isText],
  [
    'enum',
    (value) => isList(value) && (value as unknown[]).every((one) => isText(one) || isNumber(one)),
  ],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['pattern', (value) => isText(value) && isPattern(String(value))],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['items', isObject],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['properties', isObject],
  ['required', (value) => Array.isArray(value) && value.every(isText)],
  ['additionalProperties', (value) => value === false],
]);

/** Fault of a schema that a customer wrote; undefined when it can be used. @param path the field that has it. */
export function schemaFault(
  parameters: Readonly<Record<string, unknown>>,
  path = 'parameters',
): ErrorDetail | undefined {
  const { charsMax } = SCHEMA_LIMITS;
  if (JSON.stringify(parameters).length > charsMax) {
    return { path, message: `expected at most ${charsMax} characters of JSON` };
  }
  if (parameters.type !== 'object') {
    return { path: `${path}.type`, message: 'expected "object"' };
  }
  return faultIn(parameters, path, 1);
}

function faultIn(schema: unknown, path: string, depth: number): ErrorDetail | undefined {
  if (!isObject(schema)) return { path, message: 'expected a JSON Schema object' };
  if (depth > SCHEMA_LIMITS.depthMax) {
    return { path, message: `expected at most ${SCHEMA_LIMITS.depthMax} levels` };
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${path}.${keyword}`.slice(0, 200);
    const isRight = KEYWORDS.get(keyword);
    if (isRight === undefined) {
      return { path: at, message: `expected one of ${[...KEYWORDS.keys()].join(', ')}` };
    }
    if (!isRight(value)) return { path: at, message: 'expected another value for this keyword' };
  }
  if (schema.type === undefined) return { path: `${path}.type`, message: 'expected a type' };
  return faultBelow(schema, path, depth);
}

function faultBelow(
  schema: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
): ErrorDetail | undefined {
  const properties = Object(schema.properties ?? {});
  for (const [name, below] of Object.entries(properties)) {
    const fault = faultIn(below, `${path}.properties.${name}`.slice(0, 200), depth + 1);
    if (fault !== undefined) return fault;
  }
  const required: readonly string[] = Object(schema.required ?? []);
  const unknown = required.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) {
    return { path: `${path}.required`, message: `"${unknown.slice(0, 60)}" is not in properties` };
  }
  return schema.items === undefined ? undefined : faultIn(schema.items, `${path}.items`, depth + 1);
}

/** Longest text that an argument may have where its schema names no length. */
const TEXT_LENGTH_MAX = 2000;

/** Longest list that an argument may have where its schema names no length. */
const ITEMS_MAX = 100;

/**
 * Checks arguments against a schema; arguments that the schema does not name are refused.
 *
 * @returns the faults, in words a model can act on; empty without faults.
 */
export function argumentFaults(
  args: unknown,
  parameters: Readonly<Record<string, unknown>>,
): string[] {
  if (!isObject(args)) return ['the arguments must be an object'];
  const matcher = new PatternMatcher();
  return membersFaults({ at: '', value: args, matcher }, parameters as ArgumentSchema);
}

/** A value to check, and where it stands in the arguments. */
interface Checked<Value> {
  /** Position in the arguments, such as `items.0.size`; of members, with the dot after it. */
  readonly at: string;
  readonly value: Value;
  readonly matcher: PatternMatcher;
}

function membersFaults(
  { at, value: given, matcher }: Checked<Readonly<Record<string, unknown>>>,
  { properties = {}, required = [] }: ArgumentSchema,
): string[] {
  const missing = required
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => `"${at}${name}" is missing`);
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const path = `${at}${name}`.slice(0, 100);
    if (schema === undefined) return [`"${path}" is not known`];
    return faultsOf({ at: path, value, matcher }, schema);
  });
  return [...missing, ...wrong];
}

function faultsOf({ at, value, matcher }: Checked<unknown>, schema: ArgumentSchema): string[] {
  if (schema.type !== undefined && !hasType(value, schema.type)) {
    return [`"${at}" must be of type ${schema.type}`];
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => fold(one) === fold(value))) {
    return [`"${at}" must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`];
  }
  if (typeof value === 'string') return textFaults({ at, value, matcher }, schema);
  if (typeof value === 'number') return numberFaults(at, value, schema);
  if (Array.isArray(value)) return listFaults({ at, value, matcher }, schema);
  if (isObject(value) && schema.type === 'object') {
    return membersFaults({ at: `${at}.`, value, matcher }, schema);
  }
  return [];
}

function textFaults({ at, value, matcher }: Checked<string>, schema: ArgumentSchema): string[] {
  const { minLength = 0, maxLength = TEXT_LENGTH_MAX, pattern } = schema;
  if (value.length > maxLength) return [`"${at}" must be at most ${maxLength} characters long`];
  if (value.length < minLength) return [`"${at}" must be at least ${minLength} characters long`];
  if (pattern !== undefined && !matcher.matches(pattern, value)) {
    return [`"${at}" must match ${pattern}`];
  }
  return [];
}

function numberFaults(at: string, value: number, schema: ArgumentSchema): string[] {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (value < minimum) return [`"${at}" must be at least ${minimum}`];
  return value > maximum ? [`"${at}" must be at most ${maximum}`] : [];
}

function listFaults(
  { at, value, matcher }: Checked<readonly unknown[]>,
  schema: ArgumentSchema,
): string[] {
  const { minItems = 0, maxItems = ITEMS_MAX, items } = schema;
  if (value.length > maxItems) return [`"${at}" must have at most ${maxItems} items`];
  if (value.length < minItems) return [`"${at}" must have at least ${minItems} items`];
  if (items === undefined) return [];
  return value
    .flatMap((item, index) => faultsOf({ at: `${at}.${index}`, value: item, matcher }, items))
    .slice(0, 5);
}

/** Models are careless with capitals; tools compare without them. */
function fold(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function isPattern(text: string): boolean {
  if (text.length > SCHEMA_LIMITS.patternCharsMax) return false;
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    // A malformed expression is a SyntaxError, and that is the answer.
    return false;
  }
}

/** Some expressions take exponential time; the thread that matches them holds every conversation. */
const MATCH_MS_MAX = 50;

/** Time limit for all patterns of one tool call. */
const MATCHES_MS_MAX = 250;

const MATCH = new Script('new RegExp(pattern, "u").test(text)');

/** Matches the patterns of one tool call in bounded time. */
class PatternMatcher {
  /** Global object for the matches, made once: making one takes a millisecond. */
  #context: { pattern: string; text: string } | undefined;
  #leftMs = MATCHES_MS_MAX;

  /** @returns false also where it takes too long, and for every text after that. */
  matches(pattern: string, text: string): boolean {
    if (this.#leftMs <= 0) return false;
    this.#context ??= createContext({ pattern, text }) as { pattern: string; text: string };
    Object.assign(this.#context, { pattern, text });
    const startMs = performance.now();
    try {
      return this.#isMatch() ?? this.#isMatch() ?? this.#giveUp();
    } finally {
      this.#leftMs -= performance.now() - startMs;
    }
  }

  /** Undefined where it took too long: the thread may have been stopped by a busy machine, so a second try is worth it. */
  #isMatch(): boolean | undefined {
    try {
      return MATCH.runInContext(this.#context ?? {}, { timeout: MATCH_MS_MAX }) === true;
    } catch {
      // Only the time limit throws: the expression was checked when the tool was made.
      return undefined;
    }
  }

  /** The call is refused by now: no further text is matched. */
  #giveUp(): false {
    this.#leftMs = 0;
    return false;
  }
}
