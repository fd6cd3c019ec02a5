/** Scripted language model driven by a rule book: for demo, sandbox, tests, and servers without a model. */
import { type Clock, systemClock, unlessAborted } from '../../lib/clock.ts';
import {
  type ChatMessage,
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
  type ToolDescription,
} from '../language-model.ts';
import { compile, type Rule, type RuleBook } from './default-rules.ts';

/** A language model of rules, for tests, demo and sandbox. */
export class ScriptedModel implements LanguageModel {
  readonly name: string;
  readonly ignoresPrompts = true;
  readonly #book: RuleBook;
  readonly #clock: Clock;
  readonly #firstWordMs: number;
  readonly #wordMs: number;
  #calls = 0;

  /** @param options.firstWordMs and `wordMs`: simulated delays of a real model; 0 unless given. */
  constructor(options: {
    readonly book: RuleBook;
    readonly clock?: Clock;
    readonly firstWordMs?: number;
    readonly wordMs?: number;
  }) {
    this.name = `scripted/${options.book.name}`;
    this.#book = options.book;
    this.#clock = options.clock ?? systemClock;
    this.#firstWordMs = options.firstWordMs ?? 0;
    this.#wordMs = options.wordMs ?? 0;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const { signal } = request;
    if (request.needsReading === true) {
      const reason = `Cannot read anything out of a call by the rules of "${this.name}"`;
      throw new LanguageModelError(reason, { isOfRequest: true });
    }
    await this.#wait(this.#firstWordMs, signal);
    if (request.schema !== undefined) {
      yield { kind: 'text', text: JSON.stringify(analyse(this.#book, request)) };
      return;
    }
    const { text, call } = answerTo(this.#book, request);
    for (const [index, word] of text.split(/(?=\s)/).entries()) {
      if (index > 0) await this.#wait(this.#wordMs, signal);
      if (word !== '') yield { kind: 'text', text: word };
    }
    if (call === undefined) return;
    this.#calls += 1;
    yield { kind: 'tool-call', call: { id: `call_${this.#calls}`, ...call } };
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  async #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (delayMs <= 0) return;
    const over = Promise.withResolvers<void>();
    const cancel = this.#clock.after(delayMs, over.resolve);
    await unlessAborted(over.promise, signal).finally(cancel);
  }
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Schema[];
}

interface Findings {
  readonly summary: string;
  readonly intent: string;
  readonly sentiment: 'positive' | 'neutral' | 'negative';
}

const GOOD = /\b(thank|thanks|great|perfect|good|gracias|please)\b/gi;
const BAD = /\b(wrong|complain\w*|bad|terrible|angry|never|problem|lost|don't understand|malo)\b/gi;

const SCORES = { positive: 0.9, neutral: 0.5, negative: 0.1 } as const;

/** Makes a value for the schema from the caller's words; supports the schema keywords that this server uses. */
function analyse(book: RuleBook, request: ModelRequest): unknown {
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

/** The words of a line "user: words"; empty for a line of the agent. */
function callersPart(line: string): string {
  const match = /^\s*(user|caller|agent|assistant)\s*:\s*(.*)$/i.exec(line);
  if (match === null) return line.trim();
  return /^(user|caller)$/i.test(match[1] ?? '') ? (match[2] ?? '') : '';
}

function valueFor(name: string, schema: Schema, findings: Findings): unknown {
  // The rules have no values for nullable fields.
  if (schema.anyOf?.some(({ type }) => type === 'null')) return null;
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

/** Answer of the scripted model to one request. */
interface ScriptedAnswer {
  readonly text: string;
  readonly call?: {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
}

interface Scene {
  /** The caller's last words; empty when a tool has answered since. */
  readonly words: string;
  readonly agentsWords: string;
  readonly allAgentsWords: string;
  /** Name of the tool whose result came last. */
  readonly tool: string | undefined;
  readonly tools: readonly ToolDescription[];
}

/** Finds the rule that answers a conversation, and fills it in */
function answerTo(book: RuleBook, request: ModelRequest): ScriptedAnswer {
  const scene = sceneOf(request);
  const rule = book.rules.find((one) => applies(one, scene));
  if (rule === undefined) return { text: book.otherwise.say };

  const text = filled(rule.say ?? '', rule, scene);
  if (rule.call === undefined) return { text };
  return {
    text,
    call: { name: rule.call.tool, arguments: filledArguments(rule.call, scene.tools) },
  };
}

/** The intent of the rule that a sentence of the caller matches by its words alone. */
function intentOf(book: RuleBook, words: string): string | undefined {
  const withWords = book.rules.filter(({ when }) => when.regex ?? when.words);
  return withWords.find(({ when, intent }) => intent && matchesWords(when, words))?.intent;
}

function sceneOf({ messages, tools }: ModelRequest): Scene {
  const last = messages.at(-1);
  const said = messages.filter(isAgentsSpeech).map(({ content }) => content);
  return {
    words: last?.role === 'user' ? last.content : '',
    agentsWords: said.at(-1) ?? '',
    allAgentsWords: said.join('\n'),
    tool: last?.role === 'tool' ? last.name : undefined,
    tools: tools ?? [],
  };
}

function isAgentsSpeech(message: ChatMessage): boolean {
  return message.role === 'assistant' && message.content !== '';
}

function applies(rule: Rule, scene: Scene): boolean {
  const { when, call } = rule;
  if (when.tool !== scene.tool) return false;
  if (call !== undefined && !scene.tools.some(({ name }) => name === call.tool)) return false;
  if (rule.once && scene.allAgentsWords.includes(headOf(rule))) return false;
  if (when.after !== undefined && !compile(when.after).test(scene.agentsWords)) return false;
  return matchesWords(when, scene.words);
}

function matchesWords(when: Rule['when'], words: string): boolean {
  if (when.regex !== undefined && !compile(when.regex).test(words)) return false;
  const spoken = new Set(words.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
  return when.words?.every((word) => spoken.has(word.toLowerCase())) ?? true;
}

/** Beginning that all fillings of the rule's text share; enough to see that it was said. */
function headOf({ say, id }: Rule): string {
  return say?.split('{')[0] || id;
}

function filled(text: string, rule: Rule, scene: Scene): string {
  const groups = rule.when.regex ? compile(rule.when.regex).exec(scene.words)?.groups : undefined;
  const whole = text
    .replace(/\{(\w+)\}/g, (_whole, name: string) =>
      name === 'last' ? scene.agentsWords : (groups?.[name] ?? ''),
    )
    .replace(/\s+([,.?!])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

function filledArguments(
  call: NonNullable<Rule['call']>,
  tools: readonly ToolDescription[],
): Record<string, unknown> {
  const parameters = tools.find(({ name }) => name === call.tool)?.parameters as
    | { readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] }>> }
    | undefined;
  const choose = (name: string, value: unknown) =>
    value === '{first}' ? (parameters?.properties?.[name]?.enum?.[0] ?? '') : value;
  return Object.fromEntries(
    Object.entries(call.arguments).map(([name, value]) => [name, choose(name, value)]),
  );
}
