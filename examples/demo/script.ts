/** What the demo's caller says, and how its sentences are compared with what the agent understood. */

export interface Line {
  readonly text: string;
  /** Says it while the agent is still speaking. */
  readonly isInterruption?: boolean;
}

/** Only sentences that the tiny recogniser knows: see models/README.md. */
export const LINES: readonly Line[] = [
  { text: 'Hello, can you hear me?' },
  { text: 'What are your opening hours?' },
  { text: 'How much does it cost?', isInterruption: true },
  { text: 'I would like to book an appointment.' },
  { text: 'Thank you very much.' },
  { text: 'Goodbye.' },
];

/** Words alone, lower case: punctuation is not heard. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** Fewest words to replace, add or leave out to make one from the other. */
export function wordErrors(said: readonly string[], understood: readonly string[]): number {
  let row = Array.from({ length: understood.length + 1 }, (_, index) => index);
  for (const [index, word] of said.entries()) {
    const next = [index + 1];
    for (const [column, other] of understood.entries()) {
      const replaced = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Share of the caller's words that the agent got wrong, from 0 to 1 and more. */
export function wordErrorRate(said: readonly string[], understood: readonly string[]): number {
  const reference = said.flatMap(wordsOf);
  return wordErrors(reference, understood.flatMap(wordsOf)) / Math.max(1, reference.length);
}
