/** Drops from streamed model text what is never read aloud: code blocks, JSON, tags; and finds tool calls that small models write as text; pure */
import { isObject, type JsonObject, jsonOf } from '../../lib/unknown-value.ts';
import type { ToolCall, ToolDescription } from '../../llm/language-model.ts';

const FENCE = '```';

/** An open JSON object and its depth in braces. */
interface OpenJson {
  depth: number;
  isInString: boolean;
  isEscaped: boolean;
}

/** One instance per reply. The result does not depend on how the text is cut into chunks. */
export class UnspokenFilter {
  /** What may begin a code block, a tag or a JSON object: backticks, `<`, or `{` with the spaces behind it. */
  #held = '';
  #isInCode = false;
  #isInTag = false;
  #json: OpenJson | undefined;
  #isLineStart = true;

  /** Takes more text. @returns what of it may be spoken. */
  push(text: string): string {
    let spoken = '';
    for (const character of text) spoken += this.#take(character);
    return spoken;
  }

  #take(character: string): string {
    if (this.#json !== undefined) return this.#takeJson(this.#json, character);
    if (character === '`') return this.#takeBacktick();
    const held = this.#held;
    this.#held = '';
    if (this.#isInCode) return '';
    if (this.#isInTag) return this.#takeTag(character);
    if (held.startsWith('{') && character.trim() === '') {
      this.#held = held + character;
      return '';
    }
    if (held.startsWith('{') && character === '"') {
      this.#json = { depth: 1, isInString: true, isEscaped: false };
      return '';
    }
    if (held === '<' && /[\p{L}/|]/u.test(character)) {
      this.#isInTag = true;
      return '';
    }
    return held + this.#takeText(character);
  }

  #takeBacktick(): string {
    if (this.#isInTag) return '';
    const before = this.#held.startsWith('`') ? '' : this.#held;
    this.#held = before === '' ? `${this.#held}\`` : '`';
    if (this.#held === FENCE) {
      this.#held = '';
      this.#isInCode = !this.#isInCode;
      this.#isLineStart = true;
    }
    return before;
  }

  #takeText(character: string): string {
    if (character === '<') {
      this.#held = '<';
      return '';
    }
    if (character === '{') {
      if (this.#isLineStart) this.#json = { depth: 1, isInString: false, isEscaped: false };
      else this.#held = '{';
      return '';
    }
    // An array of objects begins a line too.
    this.#isLineStart = character === '\n' || (this.#isLineStart && /[\s[]/.test(character));
    return character;
  }

  #takeTag(character: string): string {
    if (character === '>' || character === '\n') {
      this.#isInTag = false;
      this.#isLineStart = true;
    }
    return character === '\n' ? '\n' : '';
  }

  #takeJson(json: OpenJson, character: string): string {
    if (json.isEscaped) json.isEscaped = false;
    else if (character === '\\' && json.isInString) json.isEscaped = true;
    else if (character === '"') json.isInString = !json.isInString;
    else if (!json.isInString && character === '{') json.depth += 1;
    else if (!json.isInString && character === '}') json.depth -= 1;
    if (json.depth === 0) this.#json = undefined;
    return '';
  }
}

/** Most text that is read as a call. */
const LENGTH_MAX = 1500;

/** Marks that models put around a call: code fences, `<tool_call>`, `[TOOL_CALLS]`. */
const WRAPPING = /```(?:json|tool_call|tool_code)?|<\/?[\w|]+>|\[\/?TOOL_CALLS?\]/gi;

/**
 * Reads an answer that is one tool call and nothing else, such as `{"name": "end_call", "arguments": {}}`.
 *
 * @param text the whole answer; only the model's own words, never a caller's.
 * @returns null where it is none, or names a tool that was not offered.
 */
export function writtenToolCall(text: string, tools: readonly ToolDescription[]): ToolCall | null {
  if (text.length > LENGTH_MAX) return null;
  const call = asObject(parsed(text.replace(WRAPPING, '').trim()));
  const named = asObject(call?.function) ?? call;
  const name = named?.name ?? named?.tool;
  const given = named?.arguments ?? named?.parameters ?? {};
  const args = asObject(typeof given === 'string' ? parsed(given) : given);
  const isOffered = tools.some((tool) => tool.name === name);
  if (typeof name !== 'string' || !isOffered || args === null) return null;
  return { id: `written-${name}`, name, arguments: args };
}

/** The value of a JSON text, or the only one in an array; undefined for any other text. */
function parsed(text: string): unknown {
  const value = jsonOf(text);
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function asObject(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}
