import { expect, test } from 'vitest';
import {
  localDateOf,
  QUARTER_HOUR_MS,
  spanBefore,
  spanOf,
} from '../../src/domain/analytics/period.ts';

const at = (iso: string) => Date.parse(iso) / QUARTER_HOUR_MS;

const DAY = { firstDay: '2026-11-20', lastDay: '2026-11-20' };

test.each([
  ['UTC', '2026-11-20T00:00Z', '2026-11-21T00:00Z', 0],
  ['Europe/Rome', '2026-11-19T23:00Z', '2026-11-20T23:00Z', 4],
  ['Asia/Kathmandu', '2026-11-19T18:15Z', '2026-11-20T18:15Z', 23],
  ['America/St_Johns', '2026-11-20T03:30Z', '2026-11-21T03:30Z', -14],
  ['Pacific/Kiritimati', '2026-11-19T10:00Z', '2026-11-20T10:00Z', 56],
])('spanOf a day in %s begins and ends at its midnights', (zone, from, before, offset) => {
  expect(spanOf(DAY, zone)).toEqual({
    from: at(from),
    before: at(before),
    offsets: [{ from: at(from), offset }],
  });
});

test('spanOf a year tells when clocks change, to the quarter hour', () => {
  const { offsets } = spanOf({ firstDay: '2026-01-01', lastDay: '2026-12-31' }, 'Europe/Rome');

  expect(offsets).toEqual([
    { from: at('2025-12-31T23:00Z'), offset: 4 },
    { from: at('2026-03-29T01:00Z'), offset: 8 },
    { from: at('2026-10-25T01:00Z'), offset: 4 },
  ]);
});

test('spanOf begins with the first instant of a day whose midnight the clocks leave out', () => {
  const span = spanOf({ firstDay: '2026-09-06', lastDay: '2026-09-06' }, 'America/Santiago');

  expect([span.from, span.before]).toEqual([at('2026-09-06T04:00Z'), at('2026-09-07T03:00Z')]);
});

test('spanBefore is as many days right before a period that is over', () => {
  const period = { firstDay: '2026-11-08', lastDay: '2026-11-14' };

  const { from, before } = spanBefore(period, 'UTC', new Date('2026-11-20T12:00Z'));

  expect([from, before]).toEqual([at('2026-11-01T00:00Z'), at('2026-11-08T00:00Z')]);
});

test('spanBefore takes only as much as has passed of a period that is not over', () => {
  const { from, before } = spanBefore(DAY, 'Europe/Rome', new Date('2026-11-20T08:05Z'));

  expect([from, before]).toEqual([at('2026-11-18T23:00Z'), at('2026-11-19T08:15Z')]);
});

test('spanBefore a period that has not begun is empty', () => {
  const { from, before } = spanBefore(DAY, 'UTC', new Date('2026-11-01T00:00Z'));

  expect(before).toBe(from);
});

test('localDateOf is the date on the wall, not the one in London', () => {
  const now = new Date('2026-11-20T23:30Z');

  expect(localDateOf(now, 'Europe/Rome')).toEqual(new Date('2026-11-21T00:00Z'));
  expect(localDateOf(now, 'America/New_York')).toEqual(new Date('2026-11-20T00:00Z'));
});
