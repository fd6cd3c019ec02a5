/** Calendars that agents book appointments in: settings, rules, the contract of the store, and local times as a model writes them. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import { emptyPatch, given, laterThan, type Unset } from '../ids.ts';
import type { NamedStore } from '../named-store.ts';
import { bodyFault, type ErrorDetail, requireNoFaults } from '../service-error.ts';
import { requireSecretAgain } from '../tool/tool-request.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../webhook/webhook-url.ts';
import { instantsOf, isTimeZone, WEEKDAYS, writtenLocally } from '../zoned-time.ts';
import type { OpenHours, SlotRules } from './slots.ts';

/** `builtin` keeps appointments here alone, `caldav` in a collection of a CalDAV server as well. */
export const CALENDAR_KINDS = ['builtin', 'caldav'] as const;

/** One of `CALENDAR_KINDS`. */
type CalendarKind = (typeof CALENDAR_KINDS)[number];

/** Address and credentials of a CalDAV collection; all null for a built-in calendar. */
interface CalDavAccess {
  /** URL of the collection of events itself. */
  readonly url: string | null;
  readonly username: string | null;
  readonly password: string | null;
}

/** A calendar. */
export interface Calendar extends SlotRules, CalDavAccess {
  readonly accountId: string;
  readonly environment: Environment;
  /** Unique in the account and environment. */
  readonly name: string;
  readonly kind: CalendarKind;
  /** The secret part of the link to its ICS feed. */
  readonly feedToken: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Limits of the fields of a calendar: counts, lengths in characters, minutes, days. */
export const CALENDAR_LIMITS = {
  calendarsMax: 100,
  openHoursMax: 6,
  timeZoneCharsMax: 60,
  usernameCharsMax: 200,
  passwordCharsMax: 500,
  slotMinutes: { min: 5, max: 480 },
  bufferMinutes: { min: 0, max: 240 },
  minNoticeMinutes: { min: 0, max: 43_200 },
  maxDaysAhead: { min: 1, max: 365 },
} as const;

/** Names of calendars. */
export const CALENDAR_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** A time of day, to 24:00. */
export const CLOCK_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/;

/** Characters of a feed token: 190 bits. */
export const FEED_TOKEN_CHARS = 32;

const NINE_TO_FIVE: readonly OpenHours[] = [{ from: '09:00', to: '17:00' }];

const DEFAULTS = {
  workingHours: {
    ...{ monday: NINE_TO_FIVE, tuesday: NINE_TO_FIVE, wednesday: NINE_TO_FIVE },
    ...{ thursday: NINE_TO_FIVE, friday: NINE_TO_FIVE },
  },
  slotMinutes: 30,
  bufferMinutes: 0,
  minNoticeMinutes: 60,
  maxDaysAhead: 60,
} satisfies Partial<SlotRules>;

/** Keeps calendars. */
export interface CalendarStore extends NamedStore<Calendar> {
  /** Finds a calendar of any account, for the bearer of its feed link. */
  findByFeedToken(token: string): Promise<Calendar | undefined>;
}

type Access = Unset<CalDavAccess>;

/** A calendar as customers describe it, of the right types and lengths. */
type CalendarDraft = Pick<Calendar, 'name' | 'kind' | 'timeZone'> &
  Unset<Omit<SlotRules, 'timeZone'>> &
  Access;

/** A change: only the fields that are there. */
type CalendarPatch = Unset<SlotRules> & Access;

/**
 * Makes a calendar.
 *
 * @param facts.feedToken `FEED_TOKEN_CHARS` random characters.
 * @throws {ServiceError} VALIDATION_ERROR when time zone, hours or access are wrong; UNPROCESSABLE when the host is refused.
 */
export function createCalendar(
  draft: CalendarDraft,
  facts: {
    readonly scope: Scope;
    readonly now: Date;
    readonly urlRules: WebhookUrlRules;
    readonly feedToken: string;
  },
): Calendar {
  const { scope, now, urlRules, feedToken } = facts;
  const calendar: Calendar = {
    ...DEFAULTS,
    ...{ url: null, username: null, password: null },
    ...given(draft),
    name: draft.name,
    kind: draft.kind,
    timeZone: draft.timeZone,
    accountId: scope.accountId,
    environment: scope.environment,
    feedToken,
    createdAt: now,
    updatedAt: now,
  };
  checkCalendar(calendar, urlRules);
  return calendar;
}

/**
 * Changes the fields that the patch has; `workingHours` replaces all of them.
 *
 * @throws {ServiceError} as `createCalendar`; VALIDATION_ERROR when the patch is empty, or `url` goes to another server
 *   without `password`.
 */
export function patchCalendar(
  calendar: Calendar,
  patch: CalendarPatch,
  { now, urlRules }: { readonly now: Date; readonly urlRules: WebhookUrlRules },
): Calendar {
  const changes = given(patch);
  if (Object.keys(changes).length === 0) throw emptyPatch('the calendar');
  const patched = { ...calendar, ...changes, updatedAt: laterThan(calendar.updatedAt, now) };
  checkCalendar(patched, urlRules);
  if (typeof changes.password !== 'string') {
    requireSecretAgain('password', { before: calendar.url, after: patched.url });
  }
  return patched;
}

/**
 * Requires that the calendar of an agent exists.
 *
 * @throws {ServiceError} VALIDATION_ERROR when it does not.
 */
export async function requireKnownCalendar(
  name: string | null,
  scope: Scope,
  calendars: Pick<CalendarStore, 'find'>,
): Promise<void> {
  if (name === null || (await calendars.find(scope, name)) !== undefined) return;
  const message = `"${name}" does not exist; expected a calendar of GET /api/calendars`;
  throw bodyFault('calendar', message);
}

function checkCalendar(calendar: Calendar, urlRules: WebhookUrlRules): void {
  requireNoFaults([...zoneFaults(calendar), ...hourFaults(calendar), ...accessFaults(calendar)]);
  if (calendar.url !== null) checkWebhookUrl(calendar.url, urlRules);
}

function zoneFaults({ timeZone }: Calendar): ErrorDetail[] {
  if (isTimeZone(timeZone)) return [];
  return [{ path: 'timeZone', message: 'expected an IANA time zone, such as Europe/Rome' }];
}

function hourFaults({ workingHours }: Calendar): ErrorDetail[] {
  return WEEKDAYS.flatMap((weekday) =>
    (workingHours[weekday] ?? []).flatMap(({ from, to }, index, hours) => {
      const path = `workingHours.${weekday}.${index}`;
      if (from >= to) return [{ path, message: 'from must be before to' }];
      const before = hours[index - 1];
      const isAfter = before === undefined || before.to <= from;
      return isAfter ? [] : [{ path, message: 'must begin after the hours before it have ended' }];
    }),
  );
}

function accessFaults(calendar: Calendar): ErrorDetail[] {
  const fields = ['url', 'username', 'password'] as const;
  if (calendar.kind === 'builtin') {
    return fields.flatMap((path) =>
      calendar[path] === null ? [] : [{ path, message: 'is for the kind caldav alone' }],
    );
  }
  const missing = fields.filter((path) => calendar[path] === null);
  if (missing.length > 0) {
    return missing.map((path) => ({ path, message: 'is required for the kind caldav' }));
  }
  const isPath = !/[?#]/.test(calendar.url ?? '');
  return isPath ? [] : [{ path: 'url', message: 'expected a URL without query and fragment' }];
}

/** Times of a calendar, described for the model. */
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

/** Writes an instant for the model, such as `Tuesday 2026-12-01 10:00`. */
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
