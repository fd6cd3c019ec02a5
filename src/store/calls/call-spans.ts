/** Finds the days that a page of a list lies on, from how many calls each day has; pure */

/** How many calls of a list a day has. */
export interface DayCount {
  /** Days since 1970. */
  readonly day: number;
  readonly calls: number;
}

/** Days in a row, and which of their calls belong to the page; all its calls if there are no others between. */
export interface Span {
  readonly firstDay: number;
  readonly lastDay: number;
  /** From the newest call of `lastDay`. */
  readonly offset: number;
  readonly limit: number;
}

/**
 * Skips whole days, and leaves out days that have no call.
 *
 * @param days newest first; days without calls are not there.
 * @returns newest first; each but the first begins with the newest call of its last day.
 */
export function spansOfPage(
  days: readonly DayCount[],
  page: { readonly offset: number; readonly limit: number },
): readonly Span[] {
  const spans: Span[] = [];
  let { offset, limit } = page;
  for (const { day, calls } of days) {
    if (limit === 0) break;
    if (offset >= calls) {
      offset -= calls;
      continue;
    }
    const taken = Math.min(calls - offset, limit);
    const newer = spans.at(-1);
    if (newer?.firstDay === day + 1) {
      spans[spans.length - 1] = { ...newer, firstDay: day, limit: newer.limit + taken };
    } else {
      spans.push({ firstDay: day, lastDay: day, offset, limit: taken });
    }
    limit -= taken;
    offset = 0;
  }
  return spans;
}
