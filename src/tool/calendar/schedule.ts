/** Times as a model writes and reads them: local ones of a calendar, without a zone; pure */
import type { Calendar } from '../../domain/calendar/calendar.ts';
import { instantsOf, WEEKDAYS, writtenLocally } from '../../domain/zoned-time.ts';

/** What a model has to know of the times of a calendar. */
export interface Schedule {
  readonly timeZone: string;
  readonly slotMinutes: number;
  /** Today's date and the opening hours. */
  readonly description: string;
  /** How a start is written. */
  readonly startDescription: string;
}

const LOCAL = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::00(?:\.0+)?)?$/;

/** Made when a call begins: days are said, and no time of day, so that prompts of one day begin alike. */
export function scheduleOf(calendar: Calendar, now: Date): Schedule {
  const { slotMinutes, timeZone } = calendar;
  const [today = ''] = writtenLocally(now, timeZone).split(/ (?=\d\d:)/);
  return {
    timeZone,
    slotMinutes,
    description: `Today is ${today}. Open: ${hoursOf(calendar)}.`,
    startDescription: `Begin, local time in ${timeZone} without an offset, such as 2026-03-01T10:00.`,
  };
}

/** The instant of a local time, the earlier of two; or why there is none, as the rest of a sentence. */
export function localInstant(text: string, { timeZone }: Schedule): Date | string {
  const [, year, month, day, hour, minute] = (LOCAL.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) {
    return 'the time is not a local date and time without an offset, such as 2026-03-01T10:00';
  }
  const local = { year, month, day, hour: hour ?? 0, minute: minute ?? 0 };
  const [instant] = isReal(local) ? instantsOf(local, timeZone) : [];
  return instant ?? 'that time does not exist: look at the date, and at changes of the clocks';
}

/** For the model, such as `Tuesday 2026-12-01 10:00`. */
export function writtenIn({ timeZone }: Pick<Schedule, 'timeZone'>, instant: Date): string {
  return writtenLocally(instant, timeZone);
}

/** No 30th of February, and no hour 25. */
function isReal(local: { year: number; month: number; day: number; hour: number; minute: number }) {
  const { year, month, day, hour, minute } = local;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute));
  return (
    year > 1970 &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute
  );
}

function hoursOf({ workingHours }: Calendar): string {
  const days = WEEKDAYS.flatMap((weekday) => {
    const hours = (workingHours[weekday] ?? []).map(({ from, to }) => `${from}-${to}`);
    return hours.length === 0 ? [] : [`${weekday} ${hours.join(' and ')}`];
  });
  return days.length === 0 ? 'never' : days.join(', ');
}
