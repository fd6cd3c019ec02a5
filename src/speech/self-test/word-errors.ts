/** How many words of a sentence were got wrong. */

/** Insertions, deletions and substitutions between two sentences; capitals and punctuation don't count. */
export function wordErrors(said: string, heard: string): { errors: number; words: number } {
  const [expected, actual] = [wordsOf(said), wordsOf(heard)];
  let row = Array.from({ length: actual.length + 1 }, (_, index) => index);
  for (const [index, word] of expected.entries()) row = nextRow(row, index + 1, word, actual);
  return { errors: row.at(-1) ?? 0, words: expected.length };
}

/** Levenshtein's table, one row on. */
function nextRow(row: readonly number[], first: number, word: string, actual: readonly string[]) {
  const next = [first];
  for (const [index, other] of actual.entries()) {
    const substituted = (row[index] ?? 0) + (other === word ? 0 : 1);
    next.push(Math.min((row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1, substituted));
  }
  return next;
}

function wordsOf(sentence: string): string[] {
  return (
    sentence
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}']+/gu) ?? []
  );
}
