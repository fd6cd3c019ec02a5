/** The rule book that comes with the server; loads without the schema, which only an operator's own book needs. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** When a rule applies. All conditions given must hold. */
interface Condition {
  /** Found in the caller's words, without regard to case; named groups may be used in `say`. */
  readonly regex?: string | undefined;
  /** All of them occur in the caller's words, in any order. */
  readonly words?: readonly string[] | undefined;
  /** Always. */
  readonly any?: true | undefined;
  /** A regular expression that is found in the agent's last words. */
  readonly after?: string | undefined;
  /** The tool of this name has just been used. */
  readonly tool?: string | undefined;
}

/** A pattern of the caller's words, and the answer to it. */
export interface Rule {
  readonly id: string;
  readonly when: Condition;
  /** The label for analytics, such as `booking`. */
  readonly intent?: string | undefined;
  /** `{name}` stands for a named group of the regex, `{last}` for the agent's last words. */
  readonly say?: string | undefined;
  /** A rule with a call applies only where the tool is offered. An argument `{first}` is the tool's first choice. */
  readonly call?:
    | { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
    | undefined;
  /** Applies one time a conversation. */
  readonly once: boolean;
  /** Higher ones are tried first; equal ones in the order of the file. */
  readonly priority: number;
}

/** A rule book whose rules are in the order in which they are tried. */
export interface RuleBook {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** Answers where no rule applies. */
  readonly otherwise: { readonly say: string };
}

/** Path of the server's own rule book. */
export const DEFAULT_RULES_FILE = fileURLToPath(new URL('./default-rules.json', import.meta.url));

/** Loads the server's own rule book, as `loadRuleBook` would: a test compares the two. */
export function defaultRuleBook(): RuleBook {
  const { rules, ...book } = JSON.parse(readFileSync(DEFAULT_RULES_FILE, 'utf8'));
  const complete = (rules as readonly Partial<Rule>[]).map((rule) => ({
    once: false,
    priority: 0,
    ...rule,
    ...(rule.call && { call: { ...rule.call, arguments: rule.call.arguments ?? {} } }),
  }));
  return { ...book, rules: complete.toSorted((one, other) => other.priority - one.priority) };
}

/** Compiles a pattern of a rule book. */
export function compile(pattern: string): RegExp {
  return new RegExp(pattern, 'iu');
}
