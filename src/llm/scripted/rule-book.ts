/** Rule book of the scripted model: patterns of callers' words and the answers to them. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../../lib/unknown-value.ts';
import { compile, type Rule, type RuleBook } from './default-rules.ts';

const condition = z
  .strictObject({
    regex: z.string().min(1).optional(),
    words: z.array(z.string().min(1)).min(1).optional(),
    any: z.literal(true).optional(),
    after: z.string().min(1).optional(),
    tool: z.string().min(1).optional(),
  })
  .refine((when) => Object.keys(when).length > 0, 'expected at least one condition');

const rule = z
  .strictObject({
    id: z.string().min(1),
    when: condition,
    intent: z.string().min(1).optional(),
    say: z.string().min(1).optional(),
    call: z
      .strictObject({
        tool: z.string().min(1),
        arguments: z.record(z.string(), z.unknown()).default({}),
      })
      .optional(),
    once: z.boolean().default(false),
    priority: z.number().default(0),
  })
  .refine((one) => one.say !== undefined || one.call !== undefined, 'expected "say" or "call"');

const book = z.strictObject({
  name: z.string().min(1),
  rules: z.array(rule).min(1).max(1000),
  otherwise: z.strictObject({ say: z.string().min(1) }),
});

/**
 * Reads a rule book from a JSON file.
 *
 * @throws {TypeError} naming the file, the rule and what was expected.
 */
export function loadRuleBook(file: string): RuleBook {
  try {
    return parseRuleBook(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new TypeError(`Cannot use rule book "${file}": ${messageOf(error)}`, { cause: error });
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

/** Names of the placeholders in a text. */
function placeholdersIn(text: string): string[] {
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
