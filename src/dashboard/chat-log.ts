/** A written conversation with an agent; pure */
import type { ChatAnswer, ChatMessage, ChatToolCall } from './api-types.ts';

/** As many of the newest messages the server takes, and letters of each. */
export const MESSAGES_MAX = 50;
export const LETTERS_MAX = 4000;

export interface ChatEntry extends ChatMessage {
  readonly toolCalls: readonly ChatToolCall[];
  /** Undefined for what no model has said. */
  readonly tookMs?: number;
  readonly model?: string;
  readonly promptUsed?: boolean;
}

/** An agent speaks first. */
export function chatBegun(greeting: string): readonly ChatEntry[] {
  return [{ role: 'agent', text: greeting, toolCalls: [] }];
}

export function withWords(log: readonly ChatEntry[], text: string): readonly ChatEntry[] {
  return [...log, { role: 'user', text, toolCalls: [] }];
}

export function withAnswer(log: readonly ChatEntry[], answer: ChatAnswer): readonly ChatEntry[] {
  const { reply, toolCalls, tookMs, model, promptUsed } = answer;
  return [...log, { role: 'agent', text: reply, toolCalls, tookMs, model, promptUsed }];
}

/** What is sent. An agent that only used a tool has said nothing. */
export function messagesOf(log: readonly ChatEntry[]): readonly ChatMessage[] {
  return log
    .filter(({ text }) => text.trim() !== '')
    .map(({ role, text }) => ({ role, text: text.slice(0, LETTERS_MAX) }))
    .slice(-MESSAGES_MAX);
}

/** `book_appointment(day: "Monday", hour: 9)`. */
export function callText({ name, arguments: given }: ChatToolCall): string {
  const parts = Object.entries(given).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `${name}(${parts.join(', ')})`;
}
