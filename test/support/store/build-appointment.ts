/** Calendars and appointments for tests: say what matters, the rest is filled in. */
import type { BookedAppointment } from '../../../src/domain/calendar/appointment.ts';
import type { Calendar } from '../../../src/domain/calendar/calendar.ts';

const AT = new Date('2026-11-20T10:00:00.000Z');

const HOURS = [{ from: '09:00', to: '17:00' }];

/** Open every day from nine to five in Rome. */
export function buildCalendar(fields: Partial<Calendar> = {}): Calendar {
  return {
    accountId: 'acct_1',
    environment: 'live',
    name: 'desk',
    kind: 'builtin',
    timeZone: 'Europe/Rome',
    workingHours: {
      ...{ monday: HOURS, tuesday: HOURS, wednesday: HOURS, thursday: HOURS, friday: HOURS },
      ...{ saturday: HOURS, sunday: HOURS },
    },
    slotMinutes: 30,
    bufferMinutes: 0,
    minNoticeMinutes: 0,
    maxDaysAhead: 60,
    url: null,
    username: null,
    password: null,
    feedToken: 'F'.repeat(32),
    createdAt: AT,
    updatedAt: AT,
    ...fields,
  };
}

export function buildAppointment(fields: Partial<BookedAppointment> = {}): BookedAppointment {
  return {
    id: 'appt_1',
    accountId: 'acct_1',
    environment: 'live',
    calendar: 'desk',
    callId: 'call_1',
    agentId: 'agent_1',
    title: 'Check-up',
    startsAt: new Date('2026-12-01T09:00:00.000Z'),
    endsAt: new Date('2026-12-01T09:30:00.000Z'),
    attendeePhone: '+12025550187',
    attendeeName: 'Alex Morgan',
    status: 'confirmed',
    reason: null,
    isSynced: true,
    previousStartsAt: null,
    previousEndsAt: null,
    createdAt: AT,
    updatedAt: AT,
    ...fields,
  };
}
