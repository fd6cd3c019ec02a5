/** From how long a model makes each symbol to when each phoneme ends; pure */

/**
 * @param perPoint how long each code point of the phonemes takes, in any unit.
 * @param all the same unit for every symbol of the run: those at its start come before the first code point.
 * @returns for each code point, the share of the whole after which it has been said.
 */
export function endsOfDurations(
  perPoint: readonly number[],
  all: readonly number[],
): readonly number[] {
  const total = all.reduce((sum, duration) => sum + duration, 0);
  if (!(total > 0)) return perPoint.map((_, index) => (index + 1) / perPoint.length);
  let end = all[0] ?? 0;
  return perPoint.map((duration) => {
    end += duration;
    return Math.min(1, end / total);
  });
}
