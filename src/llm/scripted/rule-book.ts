/** Rule book of the scripted model: patterns of callers' words and the answers to them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** When a rule applies. All conditions given must hold. */
const condition = z
  .strictObject({
    /** Found in the caller's words, without regard to case; named groups may be used in `say`. */
    regex: z.string().min(1).optional(),
    /** All of them occur in the caller's words, in any order. */
    words: z.array(z.string().min(1)).min(1).optional(),
    /** Always. */
    any: z.literal(true).optional(),
    /** A regular expression that is found in what the agent said last. */
    after: z.string().min(1).optional(),
    /** The tool of this name has just been used. */
    tool: z.string().min(1).optional(),
  })
  .refine((when) => Object.keys(when).length > 0, 'expected at least one condition');

const rule = z
  .strictObject({
    id: z.string().min(1),
    when: condition,
    /** The label for analytics, such as `booking`. */
    intent: z.string().min(1).optional(),
    /** `{name}` stands for a named group of the regex, `{last}` for what the agent said last. */
    say: z.string().min(1).optional(),
    /** A rule with a call applies only where the tool is offered. An argument `{first}` is the tool's first choice. */
    call: z
      .strictObject({
        tool: z.string().min(1),
        arguments: z.record(z.string(), z.unknown()).default({}),
      })
      .optional(),
    /** Applies one time a conversation. */
    once: z.boolean().default(false),
    /** Higher ones are tried first; equal ones in the order of the file. */
    priority: z.number().default(0),
  })
  .refine((one) => one.say !== undefined || one.call !== undefined, 'expected "say" or "call"');

const book = z.strictObject({
  name: z.string().min(1),
  rules: z.array(rule).min(1).max(1000),
  /** What is said when no rule applies. */
  otherwise: z.strictObject({ say: z.string().min(1) }),
});

export type Rule = z.infer<typeof rule>;
export type RuleBook = z.infer<typeof book>;

export const DEFAULT_RULES_FILE = fileURLToPath(new URL('./default-rules.json', import.meta.url));

/**
 * Reads a rule book from a JSON file.
 *
 * @throws {TypeError} naming the file, the rule and what was expected.
 */
export function loadRuleBook(file: string): RuleBook {
  try {
    return parseRuleBook(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Cannot use rule book "${file}": ${reason}`, { cause: error });
  }
}

/**
 * Checks a rule book, and brings its rules into the order in which they are tried.
 *
 * @throws {TypeError} naming the rule and what was expected.
 */
export function parseRuleBook(value: unknown): RuleBook {
  const parsed = book.safeParse(value);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message }) => `${placeOf(path, value)}: ${message}`,
    );
    throw new TypeError(faults.join('; '));
  }
  const faults = parsed.data.rules.flatMap(faultsOf);
  const ids = parsed.data.rules.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) faults.push(`rule "${twice}": expected an id of its own`);
  if (faults.length > 0) throw new TypeError(faults.join('; '));
  const rules = parsed.data.rules.toSorted((one, other) => other.priority - one.priority);
  return { ...parsed.data, rules };
}

/** Compiles a pattern of a rule book. */
export function compile(pattern: string): RegExp {
  return new RegExp(pattern, 'iu');
}

/** Names of the placeholders in a text. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

function faultsOf({ id, when, say }: Rule): string[] {
  const patterns = { regex: when.regex, after: when.after };
  const broken = Object.entries(patterns).flatMap(([name, pattern]) => {
    const fault = pattern === undefined ? undefined : faultOfPattern(pattern);
    return fault === undefined ? [] : [`rule "${id}": when.${name}: ${fault}`];
  });
  if (broken.length > 0) return broken;
  const unknown = placeholdersIn(say ?? '').filter(
    (name) => name !== 'last' && !when.regex?.includes(`(?<${name}>`),
  );
  return unknown.map((name) => `rule "${id}": say: "{${name}}" is no named group of its regex`);
}

function faultOfPattern(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
}

function placeOf(path: readonly PropertyKey[], value: unknown): string {
  const [first, index, ...rest] = path;
  if (first !== 'rules' || typeof index !== 'number') return path.join('.') || 'the file';
  const rules = (value as { rules: { id?: unknown }[] }).rules;
  const name = rules[index]?.id ?? `number ${index + 1}`;
  return [`rule "${String(name)}"`, ...rest.map(String)].join(': ');
}
