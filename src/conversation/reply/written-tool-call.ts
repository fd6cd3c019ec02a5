/** Tool calls that a model writes as text instead of making them, as small models do; pure */
import { isObject, type JsonObject, jsonOf } from '../../lib/unknown-value.ts';
import type { ToolCall, ToolDescription } from '../../llm/language-model.ts';

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
