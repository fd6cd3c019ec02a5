/** Days that a reader chooses, and how the analytics are asked for them; pure */

const DAY_MS = 86_400_000;

/** UTC days, YYYY-MM-DD, both inclusive; empty while one is being typed. */
export interface DayRange {
  readonly startDate: string;
  readonly endDate: string;
}

/** The last so many days, today among them. */
export function lastDays(count: number, nowMs: number): DayRange {
  return { startDate: dayOf(nowMs - (count - 1) * DAY_MS), endDate: dayOf(nowMs) };
}

/** A half-typed day is asked as the same day twice; without any, the report is the server's usual one. */
export function queryOf(
  period: string,
  { startDate, endDate }: DayRange,
): Readonly<Record<string, string>> {
  if (period !== 'custom') return { period };
  if (startDate === '' && endDate === '') return {};
  return { period, startDate: startDate || endDate, endDate: endDate || startDate };
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
