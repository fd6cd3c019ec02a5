/** A written conversation with an agent; pure */
import type { ChatAnswer, ChatMessage, ChatToolCall } from '../api-types.ts';

/** Limits of the server: number of newest messages that are sent, and letters of each. */
export const MESSAGES_MAX = 50;
export const LETTERS_MAX = 4000;

/** Times of an answer, in milliseconds after the request. */
type Took = Pick<ChatAnswer, 'preparedMs' | 'firstTokenMs' | 'tookMs'>;

export type StageName = 'prepared' | 'firstToken' | 'restOfAnswer';

export interface ChatEntry extends ChatMessage {
  readonly toolCalls: readonly ChatToolCall[];
  /** Undefined for entries without an answer of the model. */
  readonly took?: Took;
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
  const { reply, toolCalls, model, promptUsed, preparedMs, firstTokenMs, tookMs } = answer;
  const took = { preparedMs, firstTokenMs, tookMs };
  return [...log, { role: 'agent', text: reply, toolCalls, took, model, promptUsed }];
}

/** Stages of an answer's time, in order. */
export function stagesOf({ preparedMs, firstTokenMs, tookMs }: Took) {
  const ends: readonly (readonly [StageName, number])[] = [
    ['prepared', preparedMs],
    ['firstToken', firstTokenMs],
    ['restOfAnswer', tookMs],
  ];
  return ends.map(([name, toMs], index) => ({ name, fromMs: ends[index - 1]?.[1] ?? 0, toMs }));
}

/** Messages that are sent. An agent that only used a tool has said nothing. */
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
