/** What the caller of a conversation is dictating at the moment; pure */

import type { TurnState } from '../turn/turn-state.ts';
import { type Dictation, dictationOf } from './dictation.ts';

/** From the agent's last words and the caller's so far. Null when nothing is. */
export function dictationIn(state: TurnState, text: string): Dictation | null {
  const { history, rules } = state;
  const question = history.findLast(({ role }) => role === 'assistant')?.content ?? '';
  return dictationOf(text, question, { language: rules.brief.language, country: rules.country });
}
