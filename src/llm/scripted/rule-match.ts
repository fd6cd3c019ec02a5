/** Finds the rule that answers a conversation, and fills it in; pure */
import type { ChatMessage, ModelRequest, ToolDescription } from '../language-model.ts';
import { compile, type Rule, type RuleBook } from './rule-book.ts';

/** What the scripted model says to one request. */
export interface ScriptedAnswer {
  readonly text: string;
  readonly call?: {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
}

interface Scene {
  /** What the caller said last; empty when a tool has spoken since. */
  readonly words: string;
  readonly agentsWords: string;
  readonly allAgentsWords: string;
  /** Name of the tool whose result came last. */
  readonly tool: string | undefined;
  readonly tools: readonly ToolDescription[];
}

export function answerTo(book: RuleBook, request: ModelRequest): ScriptedAnswer {
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
export function intentOf(book: RuleBook, words: string): string | undefined {
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

/** What every filling of the rule's text begins with; enough to see that it was said. */
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
