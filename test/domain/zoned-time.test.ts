/** Local times over changes of the clocks, in both hemispheres and with changes that are no whole hours. */
import { expect, test } from 'vitest';
import {
  dayAfter,
  instantOf,
  instantsOf,
  isTimeZone,
  localTimeOf,
  weekdayOf,
  writtenLocally,
} from '../../src/domain/zoned-time.ts';

function local(text: string) {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = text.split(/\D/).map(Number);
  return { year, month, day, hour, minute };
}

test.each([
  // Clocks go forward: the time does not exist.
  ['America/New_York', '2026-03-08T02:30', []],
  ['Europe/Berlin', '2026-03-29T02:15', []],
  ['Australia/Lord_Howe', '2026-10-04T02:15', []],
  ['Africa/Cairo', '2026-04-24T00:30', []],
  // Clocks go back: the time is there twice.
  ['America/New_York', '2026-11-01T01:30', ['2026-11-01T05:30Z', '2026-11-01T06:30Z']],
  ['Europe/London', '2026-10-25T01:00', ['2026-10-25T00:00Z', '2026-10-25T01:00Z']],
  ['Australia/Lord_Howe', '2026-04-05T01:45', ['2026-04-04T14:45Z', '2026-04-04T15:15Z']],
  // Just before and after a change.
  ['Europe/Berlin', '2026-03-29T01:59', ['2026-03-29T00:59Z']],
  ['Europe/Berlin', '2026-03-29T03:00', ['2026-03-29T01:00Z']],
  ['Australia/Sydney', '2026-10-04T03:00', ['2026-10-03T16:00Z']],
  // Zones without changes, and with odd offsets.
  ['Asia/Kathmandu', '2026-03-29T02:30', ['2026-03-28T20:45Z']],
  ['Pacific/Chatham', '2026-01-15T09:00', ['2026-01-14T19:15Z']],
  ['America/Phoenix', '2026-03-08T02:30', ['2026-03-08T09:30Z']],
  ['America/Sao_Paulo', '2026-11-01T00:30', ['2026-11-01T03:30Z']],
])('instantsOf in %s at %s', (timeZone, time, expected) => {
  const instants = instantsOf(local(time), timeZone);

  expect(instants).toEqual(expected.map((text) => new Date(text)));
});

test.each([
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30Z'],
  ['Europe/London', '2026-10-25T01:00', '2026-10-25T00:00Z'],
  ['Africa/Cairo', '2026-04-23T24:00', '2026-04-23T22:00Z'],
])('instantOf in %s decides %s', (timeZone, time, expected) => {
  expect(instantOf(local(time), timeZone)).toEqual(new Date(expected));
});

test('localTimeOf and instantsOf are each other’s reverse, every hour of a year', () => {
  const wrong = ['Europe/Rome', 'America/St_Johns', 'Australia/Adelaide'].flatMap((timeZone) => {
    const hours = Array.from({ length: 365 * 24 }, (_, hour) => Date.UTC(2026, 0, 1, hour));
    return hours.filter((atMs) => {
      const back = instantsOf(localTimeOf(new Date(atMs), timeZone), timeZone);
      return !back.some((instant) => instant.getTime() === atMs);
    });
  });

  expect(wrong).toEqual([]);
});

test('dayAfter and weekdayOf go by the calendar, not by 24 hours', () => {
  const next = dayAfter(local('2026-12-31T23:30'), 1);

  expect(next).toEqual(local('2027-01-01T00:00'));
  expect(weekdayOf(next)).toBe('friday');
});

test('writtenLocally says weekday, date and time of the zone', () => {
  expect(writtenLocally(new Date('2026-12-01T09:00Z'), 'Europe/Rome')).toBe(
    'Tuesday 2026-12-01 10:00',
  );
});

test.each([
  ['Europe/Rome', true],
  ['Mars/Olympus', false],
  ['+01:00', false],
  ['', false],
])('isTimeZone of "%s"', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
