/** Appointments while the calendar server fails, answers too late, or the process dies between request and answer. */
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Ask, CALLER, openAppointmentWorld } from '../support/calendar/appointment-world.ts';
import { ScriptedCalendarServer } from '../support/calendar/scripted-calendar-server.ts';
import { buildAppointment, buildCalendar } from '../support/store/build-appointment.ts';
import { STORE_NOW_MS, STORE_TIMERS, type TestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const OTHER = '+12025550188';

const BOOKING = {
  ...{ title: 'Check-up', startTime: '2026-12-01T10:00', attendeeName: 'Alex Morgan' },
};

const MOVE = { attendeeName: 'Alex Morgan', newStartTime: '2026-12-01T15:00' };

/** A world whose process dies at the first thing that it waits for: its clock stands still. */
function openDying(server: ScriptedCalendarServer, store: TestStore) {
  return openAppointmentWorld({ server, store, clock: new FakeClock(STORE_NOW_MS) });
}

async function openWorld() {
  const server = new ScriptedCalendarServer();
  const world = await openAppointmentWorld({ server });
  const { store, sync } = world;
  /** A round when everything has settled. */
  const round = async () => {
    store.clock.advance(120_000);
    await sync.run();
  };
  return { ...world, server, round };
}

test('a calendar that is down: the wish is noted with its event, and booked once the calendar is back', async () => {
  const { appointments, callFrom, events, round, server } = await openWorld();
  server.mode = 'down';
  const ask = await callFrom(CALLER);

  const told = await ask('book_appointment', BOOKING);
  await round();
  const meanwhile = await appointments();
  server.mode = 'up';
  await round();

  expect(told).toContain('is noted, and has yet to be confirmed');
  expect(meanwhile).toMatchObject([{ status: 'open', reason: 'unreachable' }]);
  expect(await appointments()).toMatchObject([{ status: 'confirmed', isSynced: true }]);
  expect(server.starts).toEqual(['2026-12-01T09:00:00.000Z']);
  const [noted, confirmed] = await events();
  expect([noted?.confirmed, confirmed?.confirmed]).toEqual([false, true]);
  expect(confirmed?.id).toBe(noted?.id);
});

test('a noted time is held: another caller is offered the next, also while the calendar is down', async () => {
  const { callFrom, server } = await openWorld();
  server.mode = 'down';
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  server.mode = 'up';

  const told = await (await callFrom(OTHER))('book_appointment', BOOKING);

  expect(told).toContain('that time is taken. Free: Tuesday 2026-12-01 10:30');
});

test('an answer that is lost: the wish is noted, and the next round finds its own event', async () => {
  const { appointments, callFrom, round, server } = await openWorld();
  server.writeMode = 'lost';

  const told = await (await callFrom(CALLER))('book_appointment', BOOKING);
  server.writeMode = 'up';
  await round();

  expect(told).toContain('is noted');
  expect(server.starts).toHaveLength(1);
  expect(await appointments()).toMatchObject([{ status: 'confirmed', reason: null }]);
});

test.each([
  'dead',
  'lost',
] as const)('a process that dies while the server is %s: after the restart it is booked once', async (mode) => {
  const { appointments, callFrom, events, round, server, store } = await openWorld();
  server.writeMode = 'dead';
  const dying = await openDying(server, store);
  const ask = await dying.callFrom(CALLER);
  // Never ends.
  void ask('book_appointment', BOOKING);
  await expect.poll(() => server.writes).toBe(1);
  const [pending] = await appointments();
  const span = { start: new Date(0), end: new Date(0) };
  if (mode === 'lost' && pending !== undefined) {
    server.events.set(pending.id, { ...span, start: pending.startsAt, end: pending.endsAt });
  }
  server.writeMode = 'up';

  const other = await (await callFrom(OTHER))('book_appointment', BOOKING);
  await round();

  expect(pending?.status).toBe('pending');
  expect(other).toContain('that time is taken');
  expect(server.starts).toEqual(['2026-12-01T09:00:00.000Z']);
  expect(await appointments()).toMatchObject([{ status: 'confirmed' }]);
  expect(await events()).toMatchObject([{ confirmed: true }]);
});

test('a noted time that another took meanwhile stays as an open one for a person', async () => {
  const { appointments, callFrom, events, round, server } = await openWorld();
  server.mode = 'down';
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  server.others.push({ start: new Date('2026-12-01T09:15Z'), end: new Date('2026-12-01T10:00Z') });
  server.mode = 'up';

  await round();
  await round();

  expect(await appointments()).toMatchObject([{ status: 'open', reason: 'taken' }]);
  expect(server.events.size).toBe(0);
  expect(await events()).toMatchObject([{ confirmed: false }]);
});

test('a server that never answers does not hold the caller for longer than the tool may take', async () => {
  const { callFrom, server, store } = await openWorld();
  server.mode = 'dead';
  const ask = await callFrom(CALLER);
  const { waiting } = store.clock;

  const told = ask('book_appointment', BOOKING);
  // The tool's own limit, and that of the server.
  await expect.poll(() => store.clock.waiting).toBeGreaterThan(waiting + 1);
  store.clock.advance(4000);

  expect(await told).toContain('is noted');
});

test('a change while the calendar is down is refused, and the appointment stays where it is', async () => {
  const { appointments, callFrom, round, server } = await openWorld();
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);
  server.mode = 'down';

  const told = await ask('change_appointment', MOVE);
  server.mode = 'up';
  await round();

  expect(told).toContain('was not changed: the calendar does not answer');
  expect(told).toContain('it stays at Tuesday 2026-12-01 10:00');
  expect(await appointments()).toMatchObject([{ status: 'confirmed', isSynced: true }]);
  expect(server.starts).toEqual(['2026-12-01T09:00:00.000Z']);
});

test('a change whose answer is lost is taken back here and there', async () => {
  const { appointments, callFrom, events, round, server } = await openWorld();
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);
  server.writeMode = 'lost';

  const told = await ask('change_appointment', MOVE);
  const before = server.starts;
  server.writeMode = 'up';
  await round();

  expect(told).toContain('it stays at Tuesday 2026-12-01 10:00');
  expect(before).toEqual(['2026-12-01T14:00:00.000Z']);
  expect(server.starts).toEqual(['2026-12-01T09:00:00.000Z']);
  expect(await appointments()).toMatchObject([{ isSynced: true, previousStartsAt: null }]);
  expect(await events()).toHaveLength(1);
});

test('a process that dies during a change: both times are held, and the next round finishes it', async () => {
  const { appointments, callFrom, events, round, server, store } = await openWorld();
  const ask = await (await openDying(server, store)).callFrom(CALLER);
  await ask('book_appointment', BOOKING);
  server.writeMode = 'dead';
  void ask('change_appointment', MOVE);
  await expect.poll(() => server.writes).toBe(2);
  server.writeMode = 'up';

  const other = await callFrom(OTHER);
  const told = [
    await other('book_appointment', BOOKING),
    await other('book_appointment', { ...BOOKING, startTime: '2026-12-01T15:00' }),
  ];
  await round();

  expect(told.map((text) => text.includes('that time is taken'))).toEqual([true, true]);
  expect(server.starts).toEqual(['2026-12-01T14:00:00.000Z']);
  expect(await appointments()).toMatchObject([{ isSynced: true, previousStartsAt: null }]);
  expect(await events()).toHaveLength(2);
});

test('a cancellation while the calendar is down counts at once, and the event is removed later', async () => {
  const { appointments, callFrom, round, server } = await openWorld();
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);
  server.mode = 'down';

  const told = await ask('cancel_appointment', { attendeeName: 'Alex Morgan' });
  server.mode = 'up';
  await round();

  expect(told).toContain('is cancelled');
  expect(server.events.size).toBe(0);
  expect(await appointments()).toMatchObject([{ status: 'cancelled', isSynced: true }]);
});

test('rounds run by the clock from the start to the stop', async () => {
  const { appointments, callFrom, server, store, sync } = await openWorld();
  server.mode = 'down';
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  server.mode = 'up';
  sync.start();

  const statusLater = async () => {
    store.clock.advance(60_000);
    return (await appointments())[0]?.status;
  };
  await expect.poll(statusLater).toBe('confirmed');
  await sync.stop();
  await sync.stop();

  expect(store.clock.waiting).toBeLessThanOrEqual(STORE_TIMERS);
});

test('a database that fails once the calendar has booked: the caller hears of no failure, and it is settled later', async () => {
  const { appointments, callFrom, round, server, store } = await openWorld();
  const ask = await callFrom(CALLER);
  server.onWrite = () => execute(store, BREAK);

  const told = await ask('book_appointment', BOOKING);
  const before = await appointments();
  execute(store, 'drop trigger broken');
  server.onWrite = () => undefined;
  await round();

  expect(told).toContain('is noted, and has yet to be confirmed');
  expect(before).toMatchObject([{ status: 'pending' }]);
  expect(await appointments()).toMatchObject([{ status: 'confirmed', isSynced: true }]);
});

/** A wish that a round is putting into the calendar, while the same caller rings again. */
async function duringRound(deed: (ask: Ask) => Promise<string>) {
  const world = await openWorld();
  const { callFrom, round, server } = world;
  server.mode = 'down';
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  const again = await callFrom(CALLER);
  server.mode = 'up';
  let told = '';
  server.onWrite = async () => {
    server.onWrite = () => undefined;
    told = await deed(again);
  };
  await round();
  return { ...world, told };
}

test('a cancellation during a round counts, and the event that the round made is removed', async () => {
  const { appointments, round, server, told } = await duringRound((ask) =>
    ask('cancel_appointment', { attendeeName: 'Alex Morgan' }),
  );
  const afterwards = await appointments();
  await round();

  expect(told).toContain('is cancelled');
  expect(afterwards).toMatchObject([{ status: 'cancelled', isSynced: false }]);
  expect(await appointments()).toMatchObject([{ status: 'cancelled', isSynced: true }]);
  expect(server.events.size).toBe(0);
});

test('a change during a round counts, and the event that the round made is moved', async () => {
  const { appointments, events, round, server, told } = await duringRound((ask) =>
    ask('change_appointment', MOVE),
  );
  await round();

  expect(told).toContain('The new time, Tuesday 2026-12-01 15:00, is noted');
  expect(server.starts).toEqual(['2026-12-01T14:00:00.000Z']);
  expect(await appointments()).toMatchObject([{ status: 'confirmed', isSynced: true }]);
  expect((await events()).at(-1)).toMatchObject({
    ...{ startTime: '2026-12-01T14:00:00.000Z', confirmed: true },
  });
});

test('an appointment that is cancelled while another call is about to move it stays cancelled', async () => {
  const { appointments, callFrom, server } = await openWorld();
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);
  const again = await callFrom(CALLER);
  server.onBusy = async () => {
    server.onBusy = () => undefined;
    await again('cancel_appointment', { attendeeName: 'Alex Morgan' });
  };

  const told = await ask('change_appointment', MOVE);

  expect(told).toContain('was not changed: it has changed meanwhile');
  expect(await appointments()).toMatchObject([{ status: 'cancelled', isSynced: true }]);
  expect(server.events.size).toBe(0);
});

test('a noted time that another took is held and booked where the caller moves it to', async () => {
  const { appointments, callFrom, round, server } = await openWorld();
  server.mode = 'down';
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  server.others.push({ start: new Date('2026-12-01T09:15Z'), end: new Date('2026-12-01T10:00Z') });
  server.mode = 'up';
  await round();
  await (await callFrom(CALLER))('change_appointment', MOVE);

  const other = await (await callFrom(OTHER))('book_appointment', {
    ...{ ...BOOKING, startTime: '2026-12-01T15:00' },
  });
  await round();

  expect(other).toContain('that time is taken');
  expect(server.starts).toEqual(['2026-12-01T14:00:00.000Z']);
  expect(await appointments()).toMatchObject([{ status: 'confirmed', reason: null }]);
});

test('a booking that the model repeats while it is in progress is neither taken nor made twice', async () => {
  const { appointments, callFrom, server } = await openWorld();
  const ask = await callFrom(CALLER);
  let repeated = '';
  server.onWrite = async () => {
    server.onWrite = () => undefined;
    repeated = await ask('book_appointment', BOOKING);
  };

  const told = await ask('book_appointment', BOOKING);

  expect(repeated).toContain('is noted, and has yet to be confirmed');
  expect(told).toContain('is booked');
  expect(await appointments()).toHaveLength(1);
});

test('times of the calendar are not offered for a date with the year wrong', async () => {
  const { callFrom, server } = await openWorld();
  // The store's clock stands at Friday 2026-11-20 13:00 in Rome.
  server.others.push({ start: new Date('2026-11-20T12:00Z'), end: new Date('2026-11-20T15:00Z') });
  const ask = await callFrom(CALLER);

  const told = [
    await ask('book_appointment', { ...BOOKING, startTime: '2025-12-01T10:00' }),
    await ask('find_appointment_times', { from: '2025-12-01T10:00' }),
  ];

  for (const text of told) expect(text).toContain('Free: Friday 2026-11-20 16:00');
});

test.each([
  ['does not answer', 'down' as const],
  ['breaks', 'broken' as const],
])('a calendar that %s keeps no appointment of others waiting', async (_what, mode) => {
  const healthy = new ScriptedCalendarServer();
  const ill = new ScriptedCalendarServer();
  if (mode === 'down') ill.mode = 'down';
  ill.onWrite = () => {
    throw new TypeError('a mistake of ours');
  };
  const { store, sync } = await openAppointmentWorld({
    server: ({ name }) => (name === 'desk' ? ill : healthy),
  });
  const other = { calendar: 'other', id: 'appt_other' };
  await store.calendars.insert(buildCalendar({ name: other.calendar, feedToken: 'G'.repeat(32) }));
  for (let index = 0; index < 30; index += 1) {
    const startsAt = new Date(Date.parse('2026-12-01T09:00Z') + index * 3_600_000);
    const at = { startsAt, endsAt: new Date(startsAt.getTime() + 1_800_000) };
    await store.appointments.insert(buildAppointment({ ...UNSYNCED, id: `appt_${index}`, ...at }));
  }
  const later = new Date(UNSYNCED.updatedAt.getTime() + 1);
  await store.appointments.insert(buildAppointment({ ...UNSYNCED, ...other, updatedAt: later }));

  for (let round = 0; round < 2; round += 1) {
    store.clock.advance(120_000);
    await sync.run();
  }

  expect(healthy.events.size).toBe(1);
  expect(ill.events.size).toBe(0);
});

/** Confirmed here, and not told to its calendar. */
const UNSYNCED = { isSynced: false, updatedAt: new Date(STORE_NOW_MS) };

/** Runs a statement from outside, as another process would. */
function execute(store: TestStore, sql: string): void {
  const database = new Sqlite(store.file);
  database.exec(sql);
  database.close();
}

const BREAK = `create trigger broken before update on appointments
  begin select raise(abort, 'disk I/O error'); end`;
