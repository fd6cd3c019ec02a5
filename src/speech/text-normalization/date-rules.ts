/** Dates in figures, and times of day; pure */
import type { CalendarDay, LanguagePack, Rule } from './language-pack.ts';

export function dateRules(pack: LanguagePack): readonly Rule[] {
  const mark = pack.dateOrder === 'mdy' ? '/' : './-';
  return [
    {
      // ISO 8601, with or without the time, which is then a rule of its own.
      pattern: /(?<![\p{L}\p{N}-])(\d{4})-(\d{2})-(\d{2})(?=T\d|(?![\p{L}\p{N}-]))/gu,
      say: (found) => {
        const [, year = '', month = '', day = ''] = found.parts;
        return sayDay({ day: Number(day), month: Number(month), year: Number(year) }, found, pack);
      },
    },
    {
      pattern: new RegExp(
        `(?<![\\p{L}\\p{N}./-])(\\d{1,2})([${mark}])(\\d{1,2})\\2(\\d{4}|\\d{2})(?![\\p{L}\\p{N}]|[./-]\\p{N})`,
        'gu',
      ),
      say: (found) => {
        const [, first = '', , second = '', year = ''] = found.parts;
        const numbers = [Number(first), Number(second)] as const;
        return sayDay(inOrder(numbers, fullYear(year), pack), found, pack);
      },
    },
    {
      pattern:
        /(?<![\p{L}\p{N}.,:/-])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:\s?([ap])(?:\.\s?m\.|m(?![\p{L}\p{N}])))?(?![\p{L}\p{N}:]|[.,]\p{N})/giu,
      say: ({ parts: [whole = '', hour = '', minute = '', half], after }) => {
        const time = { hour: Number(hour), minute: Number(minute) };
        const letter = half?.toLowerCase();
        const words = pack.time(
          letter === undefined ? time : { ...time, half: letter === 'a' ? 'am' : 'pm' },
        );
        return whole.endsWith('.') && after.trim() === '' ? `${words}.` : words;
      },
    },
  ];
}

/** Two figures mean this century up to 50. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year);
  return Number(year) + (Number(year) <= 50 ? 2000 : 1900);
}

/** By the language's habit, and the other way round where only that is a day. */
function inOrder(
  [first, second]: readonly [number, number],
  year: number,
  { dateOrder }: LanguagePack,
): CalendarDay {
  const isMonthFirst = dateOrder === 'mdy' ? first <= 12 : second > 12 && first <= 12;
  return isMonthFirst ? { day: second, month: first, year } : { day: first, month: second, year };
}

function sayDay(
  day: CalendarDay,
  found: Parameters<LanguagePack['date']>[1],
  pack: LanguagePack,
): string | null {
  const isDay = day.month >= 1 && day.month <= 12 && day.day >= 1 && day.day <= 31;
  return isDay ? pack.date(day, found) : null;
}
