/** Reciprocal rank fusion: one list of several that order the same things by different measures; pure */

/** Dampens the first places: with less, one list's first would beat what both lists have. */
const RANK_OFFSET = 60;

/**
 * Joins lists, best first: each thing counts `1 / (60 + rank)` for every list that has it.
 *
 * @param keyOf what makes two things the same.
 * @see Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods, SIGIR 2009
 */
export function fusedRanks<Item>(
  lists: readonly (readonly Item[])[],
  keyOf: (item: Item) => number,
): readonly Item[] {
  const scores = new Map<number, { readonly item: Item; readonly score: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const key = keyOf(item);
      const before = scores.get(key);
      const score = (before?.score ?? 0) + 1 / (RANK_OFFSET + index + 1);
      scores.set(key, { item: before?.item ?? item, score });
    }
  }
  const sorted = [...scores.values()].sort((one, other) => other.score - one.score);
  return sorted.map(({ item }) => item);
}
