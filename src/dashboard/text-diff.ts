/** What is different between two texts, word by word; pure */
import { diffArrays } from 'diff';

export interface TextPiece {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Words that went or came: with more of them, comparing takes long, and each text is one piece. */
const CHANGED_WORDS_MAX = 1000;

/** The pieces, in order: those that are the same or gone make up `before`, those that are the same or new make up `after`. */
export function textDiff(before: string, after: string): readonly TextPiece[] {
  const pieces = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: CHANGED_WORDS_MAX });
  if (pieces === undefined) {
    return [
      { kind: 'gone', text: before },
      { kind: 'new', text: after },
    ];
  }
  return pieces.map(({ added, removed, value }) => ({
    kind: added ? 'new' : removed ? 'gone' : 'same',
    text: value.join(''),
  }));
}

/** Words and what is between them. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}
