/** iCalendar texts of other programs: which times they take, over recurrences, exceptions and changes of the clocks. */
import { expect, test } from 'vitest';
import {
  busySpansOf,
  movedText,
  textOfAppointment,
  textOfFeed,
} from '../../src/domain/calendar/ics.ts';
import { buildAppointment } from '../support/store/build-appointment.ts';

const MARCH = { start: new Date('2026-03-25T00:00Z'), end: new Date('2026-04-02T00:00Z') };

function calendar(...events: readonly (readonly string[])[]): string {
  const lines = events.flatMap((event) => ['BEGIN:VEVENT', ...event, 'END:VEVENT']);
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR'].join('\r\n');
}

function startsIn(text: string, exceptUid = ''): readonly string[] {
  const options = { timeZone: 'Europe/Rome', exceptUid };
  const starts = busySpansOf(text, MARCH, options).map(({ start }) => start.toISOString());
  return [...new Set(starts)].sort().map((start) => start.slice(0, 16));
}

test.each([
  ['UTC', ['DTSTART:20260330T080000Z', 'DTEND:20260330T090000Z'], ['2026-03-30T08:00']],
  [
    'a zone by its name alone',
    ['DTSTART;TZID=America/New_York:20260330T080000', 'DURATION:PT1H'],
    ['2026-03-30T12:00'],
  ],
  ['no zone', ['DTSTART:20260330T080000', 'DTEND:20260330T090000'], ['2026-03-30T06:00']],
  ['a whole day', ['DTSTART;VALUE=DATE:20260330'], ['2026-03-29T22:00']],
  [
    'an end outside the span',
    ['DTSTART:20260101T080000Z', 'DTEND:20260325T010000Z'],
    ['2026-01-01T08:00'],
  ],
  ['nothing in the span', ['DTSTART:20260501T080000Z', 'DTEND:20260501T090000Z'], []],
  ['transparent', ['DTSTART:20260330T080000Z', 'DURATION:PT1H', 'TRANSP:TRANSPARENT'], []],
  ['cancelled', ['DTSTART:20260330T080000Z', 'DURATION:PT1H', 'STATUS:CANCELLED'], []],
])('busySpansOf an event with %s', (_what, lines, expected) => {
  expect(startsIn(calendar(['UID:a', ...lines]))).toEqual(expected);
});

test('busySpansOf a daily event keeps its local time over the change of the clocks, without exceptions', () => {
  const daily = [
    ...['UID:a', 'DTSTART;TZID=Europe/Rome:20260101T100000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY'],
    'EXDATE;TZID=Europe/Rome:20260327T100000',
  ];
  const moved = [
    ...['UID:a', 'RECURRENCE-ID;TZID=Europe/Rome:20260330T100000'],
    ...['DTSTART;TZID=Europe/Rome:20260330T160000', 'DURATION:PT1H'],
  ];

  expect(startsIn(calendar(daily, moved))).toEqual([
    ...['2026-03-25T09:00', '2026-03-26T09:00', '2026-03-28T09:00'],
    ...['2026-03-29T08:00', '2026-03-30T14:00', '2026-03-31T08:00', '2026-04-01T08:00'],
  ]);
});

test.each([
  ['from half a year before', '20251001T100000'],
  ['from half a year after', '20260930T100000'],
])('busySpansOf an occurrence that was moved %s', (_what, from) => {
  const yearly = ['UID:a', `DTSTART:${from}Z`, 'DURATION:PT1H', 'RRULE:FREQ=YEARLY'];
  const moved = [
    ...['UID:a', `RECURRENCE-ID:${from}Z`, 'DTSTART:20260330T160000Z', 'DURATION:PT1H'],
  ];

  expect(startsIn(calendar(yearly, moved))).toEqual(['2026-03-30T16:00']);
});

test('busySpansOf an event of several weeks that recurs', () => {
  const long = ['UID:a', 'DTSTART:20260101T100000Z', 'DURATION:P60D', 'RRULE:FREQ=YEARLY'];
  const longer = ['UID:b', 'DTSTART:20250101T100000Z', 'DURATION:P90D', 'RRULE:FREQ=YEARLY'];

  expect(startsIn(calendar(long, longer))).toEqual(['2026-01-01T10:00']);
});

test('busySpansOf goes by the zone that a text defines where its name is not known', () => {
  const zone = [
    ...['BEGIN:VTIMEZONE', 'TZID:Office Time', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
    ...['TZOFFSETFROM:+0300', 'TZOFFSETTO:+0300', 'END:STANDARD', 'END:VTIMEZONE'],
  ];
  const event = ['UID:a', 'DTSTART;TZID=Office Time:20260330T100000', 'DURATION:PT1H'];
  const text = calendar(event).replace('BEGIN:VEVENT', `${zone.join('\r\n')}\r\nBEGIN:VEVENT`);

  expect(startsIn(text)).toEqual(['2026-03-30T07:00']);
});

test('busySpansOf leaves its own event out', () => {
  const own = ['UID:mine', 'DTSTART:20260330T080000Z', 'DURATION:PT1H'];

  expect(startsIn(calendar(own), 'mine')).toEqual([]);
});

test.each([
  ['every second since 1970', ['DTSTART:19700101T000000Z', 'RRULE:FREQ=SECONDLY']],
  ['every hour for two years', ['DTSTART:20240325T000000Z', 'RRULE:FREQ=HOURLY']],
])('busySpansOf refuses an event with more occurrences than it reads: %s', (_what, lines) => {
  expect(() => startsIn(calendar(['UID:b', ...lines, 'DURATION:PT1S']))).toThrow('10000');
});

test.each([
  '',
  'hello',
  'undefined',
  'BEGIN:VCALENDAR\r\nBEGIN:VEVENT',
])('busySpansOf refuses "%s"', (text) => {
  expect(() => startsIn(text)).toThrow();
});

test('movedText moves the times of one event and leaves the rest', () => {
  const { startsAt } = buildAppointment();
  const before = textOfAppointment(buildAppointment()).replace(
    'DTSTAMP',
    'LOCATION:Room 2\r\nDTSTAMP',
  );

  const after = movedText(
    before,
    buildAppointment({ startsAt: new Date(startsAt.getTime() + 3_600_000) }),
  );

  expect(after).toContain('DTSTART:20261201T100000Z');
  expect(after).toContain('LOCATION:Room 2');
  expect(after).toContain('SEQUENCE:1');
  expect(movedText(before, buildAppointment({ id: 'appt_2' }))).toBeUndefined();
});

test('textOfFeed keeps line breaks and separators of a title inside of it', () => {
  const title = 'A\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:B; c, d';

  const text = textOfFeed('desk', [buildAppointment({ title })]);

  expect(text.match(/^BEGIN:VEVENT/gm)).toHaveLength(1);
  expect(text.match(/^END:VEVENT/gm)).toHaveLength(1);
});
