/** What keeps waiting calls from being dialled apart from their trunk: their own window, and the account's calling hours. */
import type { CallingHours } from '../../domain/dialing/calling-hours.ts';
import { hoursHold, windowHold } from '../../domain/dialing/dial-window.ts';
import type { WaitingCall } from './outbound-queue.ts';

/** Reads the calling hours of an account; null where it has none. */
export type HoursOf = (accountId: string) => Promise<CallingHours | null>;

/** Sentences by call id; of the calls that are not to be dialled now. */
export type DialHolds = ReadonlyMap<string, string>;

/** Finds which calls are not to be dialled now: reads the hours of each account once, and applies them once per country. */
export async function dialHolds(
  waiting: readonly WaitingCall[],
  { now, hoursOf }: { readonly now: Date; readonly hoursOf: HoursOf },
): Promise<DialHolds> {
  const hours = new Map<string, CallingHours | null>();
  const closed = new Map<string, string | undefined>();
  const holds = new Map<string, string>();
  for (const call of waiting) {
    const { accountId, callId, country } = call;
    if (!hours.has(accountId)) hours.set(accountId, await hoursOf(accountId));
    const open = hours.get(accountId) ?? null;
    const key = `${accountId} ${country}`;
    if (open !== null && !closed.has(key)) closed.set(key, hoursHold(country, open, now));
    const hold = windowHold(call, now) ?? closed.get(key);
    if (hold !== undefined) holds.set(callId, hold);
  }
  return holds;
}
