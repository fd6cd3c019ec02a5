/** Answers requests for JSON from the rule book: the same conversation always gives the same analysis; pure */
import type { ModelRequest } from '../language-model.ts';
import type { RuleBook } from './rule-book.ts';
import { intentOf } from './rule-match.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

interface Findings {
  readonly summary: string;
  readonly intent: string;
  readonly sentiment: 'positive' | 'neutral' | 'negative';
}

const GOOD = /\b(thank|thanks|great|perfect|good|gracias|please)\b/gi;
const BAD = /\b(wrong|complain\w*|bad|terrible|angry|never|problem|lost|don't understand|malo)\b/gi;

const SCORES = { positive: 0.9, neutral: 0.5, negative: 0.1 } as const;

/** Makes a value that follows the schema, as far as schemas are used here, and says what the words say. */
export function analyse(book: RuleBook, request: ModelRequest): unknown {
  const words = request.messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => content)
    .join('\n');
  return valueFor('', (request.schema ?? {}) as Schema, findingsOf(book, words));
}

function findingsOf(book: RuleBook, words: string): Findings {
  const lines = words.split('\n').map(callersPart);
  const intents = lines.flatMap((line) => (line === '' ? [] : (intentOf(book, line) ?? [])));
  const mood = (words.match(GOOD)?.length ?? 0) - 2 * (words.match(BAD)?.length ?? 0);
  const first = lines.find((line) => /\p{L}/u.test(line)) ?? '';
  return {
    summary: first === '' ? 'The caller said nothing.' : `The caller said: ${first}`,
    intent: intents[0] ?? 'other',
    sentiment: mood > 0 ? 'positive' : mood < 0 ? 'negative' : 'neutral',
  };
}

/** Of a line "user: words" the words; of a line of the agent nothing. */
function callersPart(line: string): string {
  const match = /^\s*(user|caller|agent|assistant)\s*:\s*(.*)$/i.exec(line);
  if (match === null) return line.trim();
  return /^(user|caller)$/i.test(match[1] ?? '') ? (match[2] ?? '') : '';
}

function valueFor(name: string, schema: Schema, findings: Findings): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.enum !== undefined) return choiceFor(name, schema.enum, findings);
  switch (type) {
    case 'number':
    case 'integer':
      return numberFor(name, schema, findings, type === 'integer');
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'null':
      return null;
    case 'string':
      return textFor(name, findings).slice(0, schema.maxLength);
    default:
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, part]) => [
          key,
          valueFor(key, part, findings),
        ]),
      );
  }
}

function choiceFor(name: string, choices: readonly unknown[], findings: Findings): unknown {
  const wanted = textFor(name, findings);
  return choices.find((choice) => choice === wanted) ?? choices.at(-1);
}

function textFor(name: string, findings: Findings): string {
  if (/sentiment|mood/i.test(name)) return findings.sentiment;
  return /intent|topic|label/i.test(name) ? findings.intent : findings.summary;
}

function numberFor(name: string, schema: Schema, findings: Findings, isWhole: boolean): number {
  const { minimum = 0, maximum = 1 } = schema;
  const share = /sentiment|score|mood/i.test(name) ? SCORES[findings.sentiment] : 0;
  const value = minimum + (maximum - minimum) * share;
  return isWhole ? Math.round(value) : value;
}
