/** How much of a call fits into the language model's window, and which part of it stays word for word; pure */
import {
  ANSWER_TOKENS_MAX,
  type ChatMessage,
  type ToolDescription,
} from '../../llm/language-model.ts';

/** Most languages have more characters a token; fewer is the safe side. The model's own numbers take its place. */
export const CHARACTERS_PER_TOKEN = 3.5;

/** Above this nobody's words go; a server that counts only what was not in its cache seems to. */
const CHARACTERS_PER_TOKEN_MAX = 4;

/** Templates put a few tokens around every message. */
const WRAPPING_CHARACTERS = 20;

/** When so much of the room is used, it is time for a summary. */
const SUMMARY_SHARE = 0.7;

/** What is left word for word may take so much of it. */
const VERBATIM_SHARE = 0.25;

/** The last three turns stay word for word, however long they are. */
const VERBATIM_MESSAGES_MIN = 6;

/** A guess at the length of messages as a model counts them, in characters. */
export function lengthOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const called = calls.length === 0 ? 0 : JSON.stringify(calls).length;
    return sum + message.content.length + called + WRAPPING_CHARACTERS;
  }, 0);
}

/** Characters a token, from a prompt whose length the model has told. */
export function charactersPerToken(characters: number, promptTokens: number): number {
  return Math.min(CHARACTERS_PER_TOKEN_MAX, Math.max(1, characters / promptTokens));
}

/** What the messages of one call may take, in characters. */
export interface Room {
  readonly summariseAt: number;
  readonly verbatimMax: number;
  readonly max: number;
}

/** What the tools take in every request, in characters. */
export function lengthOfTools(tools: readonly ToolDescription[]): number {
  return tools.length === 0 ? 0 : JSON.stringify(tools).length;
}

/**
 * @param contextTokens the model's window; undefined where there is no limit.
 * @param toolsLength in characters.
 */
export function roomFor(
  contextTokens: number | undefined,
  toolsLength: number,
  perToken: number,
): Room {
  const tokens = (contextTokens ?? Number.POSITIVE_INFINITY) - ANSWER_TOKENS_MAX;
  const max = Math.max(0, tokens * perToken - toolsLength);
  return { summariseAt: max * SUMMARY_SHARE, verbatimMax: max * VERBATIM_SHARE, max };
}

/**
 * Where the part begins that stays word for word: with words of the agent if possible, never between a tool call and
 * its result, so that what comes before can be one message of the other side.
 *
 * @param messages without the system prompt.
 * @returns index into `messages`; 0 when all of them stay.
 */
export function verbatimFrom(messages: readonly ChatMessage[], verbatimMax: number): number {
  const newest = Math.max(0, messages.length - VERBATIM_MESSAGES_MIN);
  let length = lengthOf(messages.slice(newest));
  let first = newest;
  while (first > 0) {
    length += lengthOf(messages.slice(first - 1, first));
    if (length > verbatimMax) break;
    first -= 1;
  }
  return boundaryUpTo(messages, first, newest) ?? boundaryUpTo(messages, 1, first) ?? 0;
}

/** The first good place to begin in `from..to`; words of the caller where the agent has none. */
function boundaryUpTo(
  messages: readonly ChatMessage[],
  from: number,
  to: number,
): number | undefined {
  const places = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const says = (role: ChatMessage['role']) => (place: number) => {
    const message = messages[place];
    return message?.role === role && !(message.role === 'assistant' && message.toolCalls);
  };
  return places.find(says('assistant')) ?? places.find(says('user'));
}
