/** When a queued call may be dialled: windows and calling hours. */
import { expect, test } from 'vitest';
import {
  type CallingHours,
  countryOf,
  isWithinHours,
  nextOpening,
  timeZoneFor,
} from '../../src/domain/dialing/calling-hours.ts';
import {
  dialWindow,
  earliestDialAt,
  hoursHold,
  windowHold,
} from '../../src/domain/dialing/dial-window.ts';

const ROME = '+390612345678';
const NEW_YORK = '+12125550123';
const BERLIN = '+4930123456';

/** A Friday. */
const NOW = new Date('2026-11-20T12:00:00.000Z');

const HOURS: CallingHours = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '09:00',
  until: '20:00',
  timeZone: 'America/New_York',
};

const at = (text: string) => new Date(text);

const window = (
  draft: Parameters<typeof dialWindow>[0],
  callingHours: CallingHours | null = null,
  to = ROME,
) => dialWindow(draft, { to, now: NOW, callingHours });

test.each([
  ['nothing', {}, null, null, '2026-11-20T12:10:00.000Z'],
  ['expiresInSeconds', { expiresInSeconds: 60 }, null, null, '2026-11-20T12:01:00.000Z'],
  [
    'notBefore',
    { notBefore: at('2026-11-21T08:00:00Z') },
    '2026-11-21T08:00:00.000Z',
    null,
    '2026-11-21T08:10:00.000Z',
  ],
  [
    'notAfter',
    { notAfter: at('2026-11-22T08:00:00Z') },
    null,
    '2026-11-22T08:00:00.000Z',
    '2026-11-22T08:00:00.000Z',
  ],
  [
    'notAfter and a shorter wait',
    { notAfter: at('2026-11-20T13:00:00Z'), expiresInSeconds: 60 },
    null,
    '2026-11-20T13:00:00.000Z',
    '2026-11-20T12:01:00.000Z',
  ],
  [
    'notAfter and a longer wait',
    { notAfter: at('2026-11-20T12:00:30Z'), expiresInSeconds: 60 },
    null,
    '2026-11-20T12:00:30.000Z',
    '2026-11-20T12:00:30.000Z',
  ],
])('dialWindow with %s', (_what, draft, notBeforeAt, notAfterAt, expiresAt) => {
  expect(JSON.parse(JSON.stringify(window(draft)))).toEqual({ notBeforeAt, notAfterAt, expiresAt });
});

test.each([
  ['a notAfter in the past', { notAfter: at('2026-11-20T12:00:00Z') }, 'notAfter'],
  [
    'a notAfter before notBefore',
    { notBefore: at('2026-11-20T14:00:00Z'), notAfter: at('2026-11-20T14:00:00Z') },
    'notAfter',
  ],
  ['a notBefore after 30 days', { notBefore: at('2026-12-20T12:00:01Z') }, 'notBefore'],
  ['a notAfter after 30 days', { notAfter: at('2026-12-20T12:00:01Z') }, 'notAfter'],
])('dialWindow refuses %s, naming the field', (_what, draft, path) => {
  expect(() => window(draft)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: [expect.objectContaining({ path })],
    }),
  );
});

test('dialWindow counts the wait from the opening of the calling hours', () => {
  // Friday, 20:30 in Rome; Monday at 09:00 is next.
  const facts = { to: ROME, now: at('2026-11-20T19:30:00Z'), callingHours: HOURS };

  expect(dialWindow({}, facts).expiresAt).toEqual(at('2026-11-23T08:10:00Z'));
  expect(() => dialWindow({ notAfter: at('2026-11-23T08:00:00Z') }, facts)).toThrow(
    expect.objectContaining({
      code: 'UNPROCESSABLE',
      message: expect.stringContaining('2026-11-23T08:00'),
    }),
  );
});

test.each([
  ['the only zone of its country', ROME, 'Europe/Rome'],
  ['a zone of its country whose zones agree', BERLIN, 'Europe/Berlin'],
  ['the zone of the account where they do not', NEW_YORK, 'America/New_York'],
  ['the zone of the account for a number of no country', '+8001234567890', 'America/New_York'],
])('timeZoneFor finds %s', (_what, number, zone) => {
  expect(timeZoneFor(countryOf(number), HOURS, NOW)).toBe(zone);
});

test.each([
  ['before they begin', ROME, '2026-11-20T07:59:59.999Z', false],
  ['as they begin', ROME, '2026-11-20T08:00:00.000Z', true],
  ['to the last millisecond', ROME, '2026-11-20T18:59:59.999Z', true],
  ['as they end', ROME, '2026-11-20T19:00:00.000Z', false],
  ['on a closed day', ROME, '2026-11-21T12:00:00.000Z', false],
  ['in the zone of the account', NEW_YORK, '2026-11-20T13:00:00.000Z', false],
  ['in the zone of the account, later', NEW_YORK, '2026-11-20T14:00:00.000Z', true],
  ['an hour earlier in summer', ROME, '2026-07-20T07:00:00.000Z', true],
])('isWithinHours: %s', (_what, number, now, expected) => {
  const zone = timeZoneFor(countryOf(number), HOURS, at(now));

  expect(isWithinHours(HOURS, zone, at(now))).toBe(expected);
});

test.each([
  ['now, within the hours', '2026-11-20T12:00:00.500Z', '2026-11-20T12:00:00.500Z'],
  ['later that day', '2026-11-20T05:00:10.000Z', '2026-11-20T08:00:00.000Z'],
  ['after the weekend', '2026-11-20T19:00:00.000Z', '2026-11-23T08:00:00.000Z'],
  // On the Sunday in between, clocks go forward.
  ['over the change to summer time', '2026-03-27T19:00:00.000Z', '2026-03-30T07:00:00.000Z'],
  ['over the change to winter time', '2026-10-23T18:00:00.000Z', '2026-10-26T08:00:00.000Z'],
])('nextOpening: %s', (_what, now, expected) => {
  expect(nextOpening('IT', HOURS, at(now)).toISOString()).toBe(expected);
});

// On 29 March 2026 clocks in Italy go from 02:00 to 03:00, on 25 October from 03:00 to 02:00.
test.each([
  ['on the day of summer time', '09:00', '20:00', '2026-03-28T20:00Z', '2026-03-29T07:00Z'],
  ['in half an hour of that day', '09:00', '09:30', '2026-03-28T20:00Z', '2026-03-29T07:00Z'],
  ['in what that day skips', '02:10', '02:50', '2026-03-28T20:00Z', '2026-04-05T00:10Z'],
  ['on the day of winter time', '09:00', '20:00', '2026-10-24T20:00Z', '2026-10-25T08:00Z'],
  ['in the first of two hours', '02:30', '02:50', '2026-10-24T20:00Z', '2026-10-25T00:30Z'],
  ['in the second of them', '02:30', '02:50', '2026-10-25T00:55Z', '2026-10-25T01:30Z'],
])('nextOpening on Sundays, %s from %s until %s', (_what, from, until, now, expected) => {
  const hours: CallingHours = { ...HOURS, days: ['sun'], from, until };

  expect(nextOpening('IT', hours, at(now))).toEqual(at(expected));
});

test('nextOpening finds the one open day of a week, a week ahead', () => {
  const hours: CallingHours = { ...HOURS, days: ['fri'], from: '00:00', until: '12:00' };

  expect(nextOpening('IT', hours, NOW).toISOString()).toBe('2026-11-26T23:00:00.000Z');
});

test('nextOpening goes on over midnight where one day ends and the next begins with hours', () => {
  const hours: CallingHours = { ...HOURS, from: '00:00', until: '24:00' };
  const midnight = at('2026-11-19T23:00:00.000Z');

  expect(nextOpening('IT', hours, midnight)).toEqual(midnight);
});

test('earliestDialAt, windowHold and hoursHold agree on what keeps a call', () => {
  const notBeforeAt = at('2026-11-20T13:00:00Z');
  const waiting = { to: ROME, notBeforeAt };

  expect(earliestDialAt(waiting, { now: NOW, callingHours: HOURS })).toEqual(notBeforeAt);
  expect(windowHold(waiting, NOW)).toBe('It is not to be dialled before 2026-11-20T13:00:00.000Z.');
  expect(windowHold(waiting, notBeforeAt)).toBeUndefined();
  expect(hoursHold('IT', HOURS, notBeforeAt)).toBeUndefined();
  expect(hoursHold('IT', HOURS, at('2026-11-20T19:00:00Z'))).toBe(
    "It waits for the account's calling hours: 09:00 to 20:00, mon, tue, wed, thu, fri, Europe/Rome.",
  );
});
