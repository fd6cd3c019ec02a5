/** Passages of the agent's documents in the prompt, before the words that they may answer; pure */
import type { FoundPassage } from '../../domain/knowledge/knowledge.ts';
import type { ChatMessage } from '../../llm/language-model.ts';

/** All passages of one request: about 700 tokens. */
export const NOTE_CHARS_MAX = 2800;

/** What the caller said last, which is what passages are looked for by; empty where a tool has answered since. */
export function questionIn(messages: readonly ChatMessage[]): string {
  const last = messages.at(-1);
  return last?.role === 'user' ? last.content : '';
}

/** The messages with a note before the caller's last words. History has no notes, so that a prefix cache holds. */
export function withNote(
  messages: readonly ChatMessage[],
  passages: readonly FoundPassage[],
): readonly ChatMessage[] {
  const last = messages.at(-1);
  const note = noteOf(passages);
  if (last?.role !== 'user' || note === '') return messages;
  return [...messages.slice(0, -1), { role: 'user', content: `${note}\n${last.content}` }];
}

function noteOf(passages: readonly FoundPassage[]): string {
  let chars = 0;
  const fitting = passages.filter(({ text }) => {
    chars += text.length;
    return chars <= NOTE_CHARS_MAX;
  });
  const lines = fitting.map(({ documentName, heading, text }) => {
    const place = [documentName, heading].filter((part) => part !== '').join(', ');
    return `[${oneLine(place)}] ${oneLine(text)}`;
  });
  return lines.length === 0 ? '' : `(From the documents: ${lines.join(' ')})`;
}

/** A document may hold anything that its author has pasted: no line of it begins a message of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
