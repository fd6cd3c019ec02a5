/** Slots: opening hours, notice, grid, buffers, and days on which the clocks change. */
import { expect, test } from 'vitest';
import { isSameName } from '../../src/domain/calendar/appointment.ts';
import {
  freeSlots,
  isFree,
  type SlotRules,
  slotFault,
  type TimeSpan,
} from '../../src/domain/calendar/slots.ts';

const RULES: SlotRules = {
  timeZone: 'Europe/Rome',
  workingHours: {
    monday: [
      { from: '09:00', to: '12:00' },
      { from: '14:00', to: '17:00' },
    ],
    tuesday: [{ from: '09:00', to: '17:00' }],
    sunday: [{ from: '00:00', to: '24:00' }],
  },
  slotMinutes: 30,
  bufferMinutes: 0,
  minNoticeMinutes: 60,
  maxDaysAhead: 60,
};

const MONDAY_MORNING = new Date('2026-11-30T07:00Z');

function span(start: string, minutes = 30): TimeSpan {
  const at = new Date(start);
  return { start: at, end: new Date(at.getTime() + minutes * 60_000) };
}

const starts = (spans: readonly TimeSpan[]) => spans.map(({ start }) => start.toISOString());

test.each([
  ['2026-11-30T08:00Z', 30, undefined],
  ['2026-11-30T10:30Z', 30, undefined],
  ['2026-11-30T06:00Z', 30, 'in the past'],
  ['2026-11-30T07:30Z', 30, '60 minutes of notice'],
  ['2026-11-30T11:00Z', 30, 'outside the opening hours'],
  ['2026-11-30T10:30Z', 60, 'outside the opening hours'],
  ['2026-11-30T08:10Z', 30, 'begin every 30 minutes'],
  ['2026-12-02T09:00Z', 30, 'outside the opening hours'],
  ['2027-03-01T09:00Z', 30, 'the next 60 days'],
])('slotFault of %s for %d minutes', (start, minutes, expected) => {
  const fault = slotFault(span(start, minutes), RULES, MONDAY_MORNING);

  if (expected === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(expected);
});

test('isFree keeps the buffer before and after what is taken', () => {
  const busy = [span('2026-11-30T09:00Z')];

  expect(isFree(span('2026-11-30T09:30Z'), busy, 0)).toBe(true);
  expect(isFree(span('2026-11-30T09:30Z'), busy, 10)).toBe(false);
  expect(isFree(span('2026-11-30T08:30Z'), busy, 10)).toBe(false);
  expect(isFree(span('2026-11-30T09:15Z', 5), busy, 0)).toBe(false);
});

test('freeSlots offers the next ones around what is taken, over the pause and the closing', () => {
  const busy = [span('2026-11-30T10:00Z'), span('2026-11-30T13:00Z', 150)];
  const wanted = { minutes: 30, busy, now: MONDAY_MORNING };

  const found = freeSlots({ ...wanted, from: new Date('2026-11-30T10:00Z'), count: 3 }, RULES);

  expect(starts(found)).toEqual([
    '2026-11-30T10:30:00.000Z',
    '2026-11-30T15:30:00.000Z',
    '2026-12-01T08:00:00.000Z',
  ]);
});

test('freeSlots finds none where every day is closed, and in bounded time', () => {
  const closed = { ...RULES, workingHours: {} };
  const wanted = { from: MONDAY_MORNING, minutes: 30, count: 3, busy: [], now: MONDAY_MORNING };

  expect(freeSlots(wanted, closed)).toEqual([]);
});

test.each([
  // Clocks go forward at 2:00: the day has 23 hours, and no slot at 2:00 or 2:30.
  ['2027-03-28T00:00+01:00', 46],
  // Clocks go back at 3:00: 25 hours.
  ['2026-10-25T00:00+02:00', 50],
  ['2026-12-06T00:00+01:00', 48],
])('freeSlots of the Sunday from %s has %d slots', (midnight, slots) => {
  const now = new Date(new Date(midnight).getTime() - 3_600_000);
  const rules = {
    ...RULES,
    minNoticeMinutes: 0,
    workingHours: { sunday: RULES.workingHours.sunday ?? [] },
  };
  const wanted = { from: new Date(midnight), minutes: 30, count: slots + 1, busy: [], now };

  const found = freeSlots(wanted, rules);

  const ofDay = found.filter(({ start }) => start.getTime() < now.getTime() + 3 * 86_400_000);
  expect(ofDay).toHaveLength(slots);
  expect(ofDay.map((slot) => slotFault(slot, rules, now))).toEqual(ofDay.map(() => undefined));
});

test.each([
  ['Alex Morgan', 'alex morgan', true],
  ['Morgan', 'Alex Morgan', true],
  ['Alex Morgen', 'A. Morgan', true],
  ['José Núñez', 'Jose Nunez', true],
  ['Sam Porter', 'Alex Morgan', false],
  ['', 'Alex Morgan', false],
  ['A', 'Alex Morgan', false],
  ['Ann', 'Ian', false],
])('isSameName of "%s" and "%s"', (heard, kept, expected) => {
  expect(isSameName(heard, kept)).toBe(expected);
});
