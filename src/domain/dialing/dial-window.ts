/** When a queued call may be dialled: `notBefore`, `notAfter`, `expiresInSeconds` and the account's calling hours; pure */
import { DAY_MS } from '../../lib/clock.ts';
import type { Call } from '../call/call.ts';
import { ServiceError, unprocessable } from '../service-error.ts';
import {
  type CallingHours,
  countryOf,
  isWithinHours,
  nextOpening,
  timeZoneFor,
} from './calling-hours.ts';

/** How long a call may wait in the queue before it fails, in seconds. */
export const EXPIRES_IN_SECONDS = { min: 10, default: 600, max: 86_400 } as const;

/** How far ahead a call may be asked for, in days. */
export const WINDOW_DAYS_MAX = 30;

/** The window as a request has it. */
export interface WindowDraft {
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
  /** How long the call may wait from the first instant at which it may be dialled. */
  readonly expiresInSeconds?: number | undefined;
}

/** The called number and the rules for it. */
interface WindowFacts {
  readonly to: string;
  readonly now: Date;
  /** Null where the account has none, and for simulated calls. */
  readonly callingHours: CallingHours | null;
}

type DialWindow = Pick<Call, 'notBeforeAt' | 'notAfterAt' | 'expiresAt'>;

/**
 * Makes the window of a call. With both `notAfter` and `expiresInSeconds` the earlier end counts; with `notAfter` alone
 * there is no other.
 *
 * @throws {ServiceError} VALIDATION_ERROR when the window is over, upside down or too far ahead; UNPROCESSABLE when it ends
 * before the calling hours begin.
 */
export function dialWindow(draft: WindowDraft, facts: WindowFacts): DialWindow {
  checkWindow(draft, facts.now);
  const { notBefore = null, notAfter = null, expiresInSeconds } = draft;
  const startsAt = earliestDialAt({ to: facts.to, notBeforeAt: notBefore }, facts);
  if (notAfter !== null && startsAt >= notAfter) {
    throw unprocessable(
      `Cannot start the call: the account's calling hours begin at ${startsAt.toISOString()}, after notAfter`,
    );
  }
  const waitMs = (expiresInSeconds ?? EXPIRES_IN_SECONDS.default) * 1000;
  const waitEndsAt = new Date(startsAt.getTime() + waitMs);
  const isWaitLimited = notAfter === null || expiresInSeconds !== undefined;
  const isOverFirst = notAfter !== null && notAfter < waitEndsAt;
  return {
    notBeforeAt: notBefore,
    notAfterAt: notAfter,
    expiresAt: isOverFirst || !isWaitLimited ? notAfter : waitEndsAt,
  };
}

/** The first instant at which a call may be dialled; `now` when it may at once. */
export function earliestDialAt(
  call: Pick<Call, 'to' | 'notBeforeAt'>,
  { now, callingHours }: Omit<WindowFacts, 'to'>,
): Date {
  const { to, notBeforeAt } = call;
  const at = notBeforeAt !== null && notBeforeAt > now ? notBeforeAt : now;
  return callingHours === null ? at : nextOpening(countryOf(to), callingHours, at);
}

/** Reason not to dial a call with `notBefore` at an instant: a sentence for customers; undefined when there is none. */
export function windowHold({ notBeforeAt }: Pick<Call, 'notBeforeAt'>, now: Date) {
  if (notBeforeAt === null || notBeforeAt <= now) return undefined;
  return `It is not to be dialled before ${notBeforeAt.toISOString()}.`;
}

/** Reason not to dial calls to a country at an instant: a sentence for customers; undefined within the hours. */
export function hoursHold(
  country: string | undefined,
  hours: CallingHours,
  now: Date,
): string | undefined {
  const zone = timeZoneFor(country, hours, now);
  if (isWithinHours(hours, zone, now)) return undefined;
  const { from, until, days } = hours;
  return `It waits for the account's calling hours: ${from} to ${until}, ${days.join(', ')}, ${zone}.`;
}

function checkWindow({ notBefore, notAfter }: WindowDraft, now: Date): void {
  const lastAt = new Date(now.getTime() + WINDOW_DAYS_MAX * DAY_MS);
  const tooFar = `must be within ${WINDOW_DAYS_MAX} days from now`;
  if (notBefore !== undefined && notBefore > lastAt) throw wrong('notBefore', tooFar);
  if (notAfter === undefined) return;
  if (notAfter > lastAt) throw wrong('notAfter', tooFar);
  if (notAfter <= now) throw wrong('notAfter', 'must not be in the past');
  if (notBefore !== undefined && notAfter <= notBefore) {
    throw wrong('notAfter', 'must be after notBefore');
  }
}

function wrong(path: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `Cannot start the call: ${path} ${message}`, [
    { path, message },
  ]);
}
