/** Slots of a calendar: possible times of appointments, by working hours, notice and busy times; pure */
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import {
  dayAfter,
  instantOf,
  type LocalTime,
  localTimeOf,
  type Weekday,
  weekdayOf,
} from '../zoned-time.ts';

/** Opening hours within one day, local time; `to` may be 24:00. */
export interface OpenHours {
  /** `HH:MM`. */
  readonly from: string;
  readonly to: string;
}

/** When appointments may be. */
export interface SlotRules {
  /** IANA name. */
  readonly timeZone: string;
  /** A weekday that is not there is closed. */
  readonly workingHours: Readonly<Partial<Record<Weekday, readonly OpenHours[] | undefined>>>;
  /** Length of an appointment; they begin at whole slots, counted from the opening. */
  readonly slotMinutes: number;
  /** Kept free before and after each appointment. */
  readonly bufferMinutes: number;
  readonly minNoticeMinutes: number;
  readonly maxDaysAhead: number;
}

/** A stretch of time; `end` is not part of it. */
export interface TimeSpan {
  readonly start: Date;
  readonly end: Date;
}

/** Days that are searched for slots. */
const SEARCH_DAYS = 14;

/**
 * Why no appointment may be at a time, whatever is taken; undefined where it may be.
 *
 * @returns the rest of a sentence, such as `it is in the past`.
 */
export function slotFault(span: TimeSpan, rules: SlotRules, now: Date): string | undefined {
  const { maxDaysAhead, minNoticeMinutes, slotMinutes } = rules;
  const startMs = span.start.getTime();
  const aheadMs = startMs - now.getTime();
  if (aheadMs <= 0) return 'it is in the past';
  if (aheadMs < minNoticeMinutes * MINUTE_MS) {
    return `it is too soon: appointments need ${minNoticeMinutes} minutes of notice`;
  }
  if (aheadMs > maxDaysAhead * DAY_MS) {
    return `it is too far ahead: appointments are taken for the next ${maxDaysAhead} days`;
  }
  const open = openSpansAround(span.start, rules).find(
    ({ start, end }) => start <= span.start && span.end <= end,
  );
  if (open === undefined) return 'it is outside the opening hours';
  const isOnGrid = (startMs - open.start.getTime()) % (slotMinutes * MINUTE_MS) === 0;
  return isOnGrid ? undefined : `appointments begin every ${slotMinutes} minutes from the opening`;
}

/** Whether a time with its buffers overlaps no busy time. */
export function isFree(span: TimeSpan, busy: readonly TimeSpan[], bufferMinutes: number): boolean {
  const bufferMs = bufferMinutes * MINUTE_MS;
  const startMs = span.start.getTime() - bufferMs;
  const endMs = span.end.getTime() + bufferMs;
  return busy.every(({ start, end }) => end.getTime() <= startMs || endMs <= start.getTime());
}

/** The next free slots that begin at or after `from`, within `SEARCH_DAYS`. */
export function freeSlots(
  wanted: {
    readonly from: Date;
    readonly minutes: number;
    readonly count: number;
    readonly busy: readonly TimeSpan[];
    readonly now: Date;
  },
  rules: SlotRules,
): readonly TimeSpan[] {
  const { busy, count, minutes, now } = wanted;
  const from = new Date(Math.max(wanted.from.getTime(), now.getTime()));
  const found: TimeSpan[] = [];
  const today = localTimeOf(from, rules.timeZone);
  for (let days = 0; days < SEARCH_DAYS && found.length < count; days += 1) {
    for (const slot of slotsOf(dayAfter(today, days), minutes, rules)) {
      if (found.length >= count) break;
      if (slot.start < from || slotFault(slot, rules, now) !== undefined) continue;
      if (isFree(slot, busy, rules.bufferMinutes)) found.push(slot);
    }
  }
  return found;
}

/** The time that has to be known, to decide about a slot and to offer others. */
export function searchedSpan(start: Date): TimeSpan {
  return {
    start: new Date(start.getTime() - DAY_MS),
    end: new Date(start.getTime() + (SEARCH_DAYS + 1) * DAY_MS),
  };
}

function slotsOf(day: LocalTime, minutes: number, rules: SlotRules): readonly TimeSpan[] {
  const stepMs = rules.slotMinutes * MINUTE_MS;
  return openSpansOf(day, rules).flatMap(({ start, end }) => {
    const lastMs = end.getTime() - minutes * MINUTE_MS;
    const slots: TimeSpan[] = [];
    for (let atMs = start.getTime(); atMs <= lastMs; atMs += stepMs) {
      slots.push({ start: new Date(atMs), end: new Date(atMs + minutes * MINUTE_MS) });
    }
    return slots;
  });
}

/** Opening hours on the local day of an instant. */
function openSpansAround(instant: Date, rules: SlotRules): readonly TimeSpan[] {
  return openSpansOf(localTimeOf(instant, rules.timeZone), rules);
}

function openSpansOf(day: LocalTime, { timeZone, workingHours }: SlotRules): readonly TimeSpan[] {
  return (workingHours[weekdayOf(day)] ?? []).map(({ from, to }) => ({
    start: instantOf({ ...day, ...clockOf(from) }, timeZone),
    end: instantOf({ ...day, ...clockOf(to) }, timeZone),
  }));
}

function clockOf(text: string): Pick<LocalTime, 'hour' | 'minute'> {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return { hour, minute };
}
