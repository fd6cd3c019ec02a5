/** Composition root: calendars that agents book in during calls. */
import type { NewId } from '../../domain/ids.ts';
import { systemClock } from '../../lib/clock.ts';
import { CalendarServers } from '../../tool/calendar/calendar-servers.ts';
import { LiveCalendars } from '../../tool/calendar/live-calendars.ts';
import type { AppParts } from '../app-parts.ts';

/** Makes the appointment tools of live calls. */
export function openLiveCalendars(
  from: Pick<AppParts, 'config' | 'store' | 'log' | 'version'> & { readonly newId: NewId },
): LiveCalendars {
  const { config, log, newId, store, version } = from;
  const rules = {
    allowLocal: config.WEBHOOK_ALLOW_LOCAL,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
  };
  return new LiveCalendars({
    calendars: store.calendars,
    appointments: store.appointments,
    transaction: store.transaction,
    servers: new CalendarServers({ rules, version }),
    newId,
    clock: systemClock,
    log,
  });
}
