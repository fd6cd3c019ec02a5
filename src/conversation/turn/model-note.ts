/** Notes to the language model about what the caller does not say: who is on the line, and what was not understood; pure */
import { addToHistory, dropReply } from '../reply/reply.ts';
import { change, countSpeculation, type Draft } from './turn-state.ts';

/** Adds a note that the agent answers; a speculation made without it is discarded. */
export function noteForModel(draft: Draft, text: string, atMs: number): void {
  if (draft.state.reply?.stage === 'speculative') {
    countSpeculation(draft, 'miss');
    dropReply(draft, atMs);
  }
  addToHistory(draft, text);
  change(draft, { isOwedAnswer: true, hasCheckedIn: false, lastWords: null });
}
