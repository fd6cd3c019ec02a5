/** CalDAV on a real server: book, move, cancel, clashes with events of others, and a server that dies at the worst moment. */
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { CalendarServers } from '../../../src/tool/calendar/live-calendars.ts';
import { CALLER, openAppointmentWorld } from '../../support/calendar/appointment-world.ts';
import { PASSWORD, Radicale, USERNAME } from '../../support/calendar/radicale.ts';
import { buildCalendar } from '../../support/store/build-appointment.ts';
import { openTestStore } from '../../support/store/test-store.ts';

const OTHER = '+12025550188';

/** The next Tuesday but one; the clock is the machine's. */
const DAY = tuesday();

const BOOKING = {
  ...{ title: 'Check-up; teeth', startTime: `${DAY}T10:00`, attendeeName: 'Álex Morgan' },
};

const MOVE = { attendeeName: 'Alex Morgan', newStartTime: `${DAY}T15:00` };

function tuesday(): string {
  const now = new Date();
  const days = ((9 - now.getUTCDay()) % 7) + 7;
  return new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10);
}

const compact = DAY.replaceAll('-', '');

async function openWorld(access: { readonly password?: string } = {}) {
  const radicale = await Radicale.open();
  const rules = { allowLocal: true, allowPrivate: false };
  const servers = new CalendarServers({ rules, version: '0.0.0' });
  onTestFinished(() => servers.stop());
  const calendar = {
    ...({ kind: 'caldav', url: radicale.url, username: USERNAME, password: PASSWORD } as const),
    ...{ timeZone: 'Europe/Rome', ...access },
  };
  const server = servers.open(buildCalendar(calendar));
  if (server === undefined) throw new Error('a CalDAV calendar has a server');
  const store = await openTestStore();
  const world = await openAppointmentWorld({ calendar, server, store, clock: systemClock });
  /** A round of a process that is started later: everything has settled. */
  const round = async () => {
    const later = { ...systemClock, now: () => new Date(Date.now() + 120_000) };
    const restarted = await openAppointmentWorld({ calendar, server, store, clock: later });
    await restarted.sync.run();
  };
  return { ...world, radicale, round };
}

test('books, moves and cancels an event, and leaves what a person wrote into it', async () => {
  const { appointments, callFrom, radicale } = await openWorld();
  const ask = await callFrom(CALLER);

  const booked = await ask('book_appointment', BOOKING);
  const afterBooking = radicale.events;
  const [uid] = (await appointments()).map(({ id }) => id);
  await radicale.add(uid ?? '', [
    ...['SUMMARY:Check-up (bring the X-ray)', 'LOCATION:Room 2'],
    ...[`DTSTART:${compact}T090000Z`, `DTEND:${compact}T093000Z`],
  ]);
  const moved = await ask('change_appointment', MOVE);
  const afterMove = radicale.events;
  const cancelled = await ask('cancel_appointment', { attendeeName: 'Morgan' });

  expect(booked).toContain('is booked');
  expect(afterBooking).toHaveLength(1);
  expect(afterBooking[0]).toContain('SUMMARY:Check-up\\; teeth (Álex Morgan)');
  expect(moved).toContain(`is now at Tuesday ${DAY} 15:00`);
  expect(afterMove).toHaveLength(1);
  expect(afterMove[0]).toContain('LOCATION:Room 2');
  expect(afterMove[0]).toMatch(new RegExp(`DTSTART:${compact}T1[34]0000Z`));
  expect(cancelled).toContain('is cancelled');
  expect(radicale.events).toEqual([]);
});

test.each([
  [
    'an event',
    [`DTSTART;TZID=Europe/Rome:${compact}T094500`, `DTEND;TZID=Europe/Rome:${compact}T101500`],
  ],
  [
    'a daily one',
    ['DTSTART;TZID=Europe/Rome:20260105T100000', 'DURATION:PT30M', 'RRULE:FREQ=DAILY'],
  ],
  ['a whole day', [`DTSTART;VALUE=DATE:${compact}`]],
])('a clash with %s of another program is refused, and free times are offered', async (what, lines) => {
  const { appointments, callFrom, radicale } = await openWorld();
  await radicale.add('other', ['SUMMARY:Other', ...lines]);

  const told = await (await callFrom(CALLER))('book_appointment', BOOKING);

  const isDay = what === 'a whole day';
  expect(told).toContain('that time is taken. Free: ');
  expect(told).toContain(isDay ? ' 09:00' : `${DAY} 10:30`);
  if (isDay) expect(told).not.toContain(DAY);
  expect(await appointments()).toEqual([]);
  expect(radicale.events).toHaveLength(1);
});

test.each([
  ['a transparent event', ['TRANSP:TRANSPARENT']],
  ['a cancelled event', ['STATUS:CANCELLED']],
])('%s takes no time', async (_what, lines) => {
  const { callFrom, radicale } = await openWorld();
  const times = [`DTSTART:${compact}T080000Z`, `DTEND:${compact}T120000Z`];
  await radicale.add('other', ['SUMMARY:Other', ...times, ...lines]);

  const told = await (await callFrom(CALLER))('book_appointment', BOOKING);

  expect(told).toContain('is booked');
});

test('two callers who want one slot at the same moment: one event', async () => {
  const { callFrom, radicale } = await openWorld();
  const asks = [await callFrom(CALLER), await callFrom(OTHER)];

  const told = await Promise.all(asks.map((ask) => ask('book_appointment', BOOKING)));

  expect(told.filter((text) => text.includes('is booked'))).toHaveLength(1);
  expect(told.filter((text) => text.includes('that time is taken'))).toHaveLength(1);
  expect(radicale.events).toHaveLength(1);
});

test.each([
  'lost',
  'killed',
] as const)('a booking whose answer is %s is noted, then found again: one event, confirmed', async (answers) => {
  const { appointments, callFrom, events, radicale, round } = await openWorld();
  radicale.answers = answers;
  const ask = await callFrom(CALLER);

  const told = await ask('book_appointment', BOOKING);
  const noted = await appointments();
  if (answers === 'killed') await radicale.start();
  await round();

  expect(told).toContain('is noted, and has yet to be confirmed');
  expect(noted).toMatchObject([{ status: 'open', reason: 'unreachable' }]);
  expect(radicale.events).toHaveLength(1);
  expect(await appointments()).toMatchObject([{ status: 'confirmed', isSynced: true }]);
  expect(await events()).toMatchObject([{ confirmed: false }, { confirmed: true }]);
});

test('a server that is down takes a wish, which is booked when it is back', async () => {
  const { appointments, callFrom, radicale, round } = await openWorld();
  await radicale.kill();

  const told = await (await callFrom(CALLER))('book_appointment', BOOKING);
  await radicale.start();
  await round();

  expect(told).toContain('is noted');
  expect(radicale.events).toHaveLength(1);
  expect(await appointments()).toMatchObject([{ status: 'confirmed' }]);
});

test('a wrong password is as a server that is down, and is in no answer', async () => {
  const { appointments, callFrom, radicale } = await openWorld({ password: 'wrong' });

  const told = await (await callFrom(CALLER))('book_appointment', BOOKING);

  expect(told).toContain('is noted');
  expect(told).not.toContain('wrong');
  expect(radicale.events).toEqual([]);
  expect(await appointments()).toMatchObject([{ status: 'open' }]);
});
