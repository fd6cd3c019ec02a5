/** Composition root: calendars that agents book in during calls. */
import type { NewId } from '../../domain/ids.ts';
import { systemClock } from '../../lib/clock.ts';
import { CallCalendars } from '../../tool/calendar/call-calendars.ts';
import type { AppParts } from '../app-parts.ts';

/** Makes the appointment tools of live calls. */
export function openCallCalendars(
  from: Pick<AppParts, 'config' | 'store' | 'log' | 'version'> & { readonly newId: NewId },
): CallCalendars {
  const { log, newId, store } = from;
  return new CallCalendars({
    calendars: store.calendars,
    appointments: store.appointments,
    transaction: store.transaction,
    openServer: () => undefined,
    newId,
    clock: systemClock,
    log,
  });
}
