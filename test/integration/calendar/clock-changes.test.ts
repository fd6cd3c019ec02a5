/** Appointments on a real CalDAV server around changes of the clocks: twelve cases, and one moved over a change. */
import { expect, onTestFinished, test } from 'vitest';
import type { Calendar } from '../../../src/domain/calendar/calendar.ts';
import { CalendarServers } from '../../../src/tool/calendar/live-calendars.ts';
import { CALLER, openAppointmentWorld } from '../../support/calendar/appointment-world.ts';
import { PASSWORD, Radicale, USERNAME } from '../../support/calendar/radicale.ts';
import { buildCalendar } from '../../support/store/build-appointment.ts';
import { openTestStore } from '../../support/store/test-store.ts';

const ALL_DAY = [{ from: '00:00', to: '24:00' }];

const OFFICE = [{ from: '09:00', to: '17:00' }];

interface Case {
  readonly what: string;
  readonly zone: string;
  /** Of every day; round the clock unless given. */
  readonly hours?: Calendar['workingHours']['monday'];
  /** Lines of an event of another program. */
  readonly other?: readonly string[];
  /** Local time of the zone. */
  readonly time: string;
  /** The instant of the event on the server as iCalendar writes it, or why there is none. */
  readonly booked?: string;
  readonly refused?: string;
  /** The first free time that is offered. */
  readonly offered?: string;
}

const CASES: readonly Case[] = [
  {
    what: 'the gap in spring in the north: the time does not exist',
    ...{ zone: 'Europe/Rome', time: '2027-03-28T02:30', refused: 'that time does not exist' },
  },
  {
    what: 'the first time after the gap',
    ...{ zone: 'Europe/Rome', time: '2027-03-28T03:00', booked: '20270328T010000Z' },
  },
  {
    what: 'the hour in autumn that is there twice: the earlier one',
    ...{ zone: 'America/New_York', time: '2026-11-01T01:30', booked: '20261101T053000Z' },
  },
  {
    what: 'the gap in the south, where spring begins in October',
    ...{ zone: 'Australia/Sydney', time: '2026-10-04T02:30', refused: 'that time does not exist' },
  },
  {
    what: 'the day after the clocks of the south went back',
    ...{ zone: 'Australia/Sydney', time: '2027-04-05T09:00', booked: '20270404T230000Z' },
  },
  {
    what: 'a change by half an hour',
    ...{ zone: 'Australia/Lord_Howe', time: '2026-10-04T02:30', booked: '20261003T153000Z' },
  },
  {
    what: 'a zone of three quarters of an hour, without changes',
    ...{ zone: 'Asia/Kathmandu', time: '2027-03-28T02:30', booked: '20270327T204500Z' },
  },
  {
    what: 'a zone that has given up changing its clocks',
    ...{ zone: 'America/Sao_Paulo', time: '2026-11-01T00:30', booked: '20261101T033000Z' },
  },
  {
    what: 'an event in another zone, whose clocks change three weeks earlier',
    ...{ zone: 'Europe/Rome', time: '2027-03-15T14:00' },
    other: ['DTSTART;TZID=America/New_York:20270315T090000', 'DURATION:PT30M'],
    ...{ refused: 'that time is taken', offered: '2027-03-15 14:30' },
  },
  {
    what: 'opening hours on the day of the change: nine o’clock stays nine o’clock',
    ...{ zone: 'Europe/Rome', time: '2027-03-28T09:00', booked: '20270328T070000Z' },
    hours: OFFICE,
  },
  {
    what: 'a whole day of 23 hours that is taken',
    ...{ zone: 'Europe/Rome', time: '2027-03-28T23:30' },
    other: ['DTSTART;VALUE=DATE:20270328'],
    ...{ refused: 'that time is taken', offered: '2027-03-29 00:00' },
  },
  {
    what: 'a weekly event from before the change, at the same local time',
    ...{ zone: 'Europe/Rome', time: '2027-03-29T10:00' },
    other: [
      'DTSTART;TZID=Europe/Rome:20270104T100000',
      ...['DURATION:PT30M', 'RRULE:FREQ=WEEKLY;BYDAY=MO'],
    ],
    ...{ refused: 'that time is taken', offered: '2027-03-29 10:30' },
  },
];

/** A calendar on a server, three weeks before the case. */
async function openWorld({ hours = ALL_DAY, time, zone }: Case) {
  const radicale = await Radicale.open();
  const servers = new CalendarServers({
    ...{ rules: { allowLocal: true, allowPrivate: false }, version: '0.0.0' },
  });
  onTestFinished(() => servers.stop());
  const { workingHours } = buildCalendar();
  const days = Object.keys(workingHours).map((day) => [day, hours]);
  const calendar = {
    ...({ kind: 'caldav', url: radicale.url, username: USERNAME, password: PASSWORD } as const),
    ...{ timeZone: zone, workingHours: Object.fromEntries(days) },
  };
  const server = servers.open(buildCalendar(calendar));
  if (server === undefined) throw new Error('a CalDAV calendar has a server');
  const store = await openTestStore();
  store.clock.setCalendar(Date.parse(`${time}Z`) - 21 * 86_400_000 - store.clock.nowMs());
  const world = await openAppointmentWorld({ calendar, server, store });
  return { ...world, radicale, ask: await world.callFrom(CALLER) };
}

test.each(CASES)('book_appointment: $what ($zone, $time)', async (one) => {
  const { ask, appointments, radicale } = await openWorld(one);
  if (one.other !== undefined) await radicale.add('other', ['SUMMARY:Other', ...one.other]);

  const told = await ask('book_appointment', {
    ...{ title: 'Check-up', startTime: one.time, attendeeName: 'Alex Morgan' },
  });
  const own = radicale.events.filter((event) => event.includes('SUMMARY:Check-up'));

  expect(told).toContain(one.refused ?? 'is booked: ');
  if (one.offered !== undefined) expect(told).toMatch(new RegExp(`Free: \\w+ ${one.offered}`));
  expect(own.map((event) => /DTSTART:(\S+)/.exec(event)?.[1])).toEqual(
    one.booked === undefined ? [] : [one.booked],
  );
  expect(await appointments()).toHaveLength(own.length);
});

test('an appointment that is moved over the change keeps its local time and its length, and can be cancelled', async () => {
  const { ask, radicale } = await openWorld({
    ...{ what: 'a move', zone: 'Europe/Rome', time: '2027-03-27T10:00', hours: OFFICE },
  });
  const attendeeName = 'Alex Morgan';
  await ask('book_appointment', { title: 'Check-up', startTime: '2027-03-27T10:00', attendeeName });

  const moved = await ask('change_appointment', { attendeeName, newStartTime: '2027-03-28T10:00' });
  const [event = ''] = radicale.events;
  const cancelled = await ask('cancel_appointment', { attendeeName });

  expect(moved).toContain('is now at Sunday 2027-03-28 10:00');
  expect(event).toContain('DTSTART:20270328T080000Z');
  expect(event).toContain('DTEND:20270328T083000Z');
  expect(cancelled).toContain('is cancelled');
  expect(radicale.events).toEqual([]);
});
