/** Edit distance of Levenshtein; pure */

/** The least number of insertions, deletions and replacements of one item that make `to` of `from`. */
export function editDistance(from: ArrayLike<unknown>, to: ArrayLike<unknown>): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let other = 0; other < to.length; other += 1) {
      const replaced = (row[other] ?? 0) + (from[at] === to[other] ? 0 : 1);
      next.push(Math.min(replaced, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
