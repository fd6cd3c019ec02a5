/** Makes a built-in calendar on a running server, and books appointments in it through the store's own code. */
import type { TestServer } from '../server/server.ts';
import { buildAppointment } from './build-appointment.ts';
import { inStore } from './seed-calls.ts';

const DAY_MS = 86_400_000;
const HALF_HOUR_MS = 1_800_000;

/** A confirmed one at nine (UTC) tomorrow, one at ten that is still open, and a cancelled one a day later. */
export async function seedAppointments(
  server: TestServer,
  calendar: string,
  attendeeName = 'Alex Morgan',
): Promise<void> {
  await server.api('POST', '/api/calendars', { name: calendar, kind: 'builtin', timeZone: 'UTC' });
  const tomorrowMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const booked = [
    { hour: 9, status: 'confirmed', reason: null },
    { hour: 10, status: 'open', reason: 'taken' },
    { hour: 33, status: 'cancelled', reason: null },
  ] as const;
  await inStore(server, async (store, accountId) => {
    for (const [index, { hour, ...state }] of booked.entries()) {
      const startsAt = new Date(tomorrowMs + hour * 2 * HALF_HOUR_MS);
      const endsAt = new Date(startsAt.getTime() + HALF_HOUR_MS);
      const facts = { id: `appt_seeded${index}`, accountId, calendar, attendeeName, ...state };
      await store.appointments.insert(buildAppointment({ ...facts, startsAt, endsAt }));
    }
  });
}
