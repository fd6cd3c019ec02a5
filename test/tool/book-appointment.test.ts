/** The booking tool: what reaches the calendar, what goes on record, and what the model is told. */
import { expect, test } from 'vitest';
import type { Appointment } from '../../src/domain/call/call.ts';
import {
  type AppointmentRequest,
  type Booking,
  type Calendar,
  CalendarError,
  createBookAppointment,
} from '../../src/tool/book-appointment.ts';
import { toolboxFor } from '../../src/tool/toolbox.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const CALLER = '+12025550187';

const ARGUMENTS = {
  title: 'Check-up',
  startTime: '2026-11-21T10:00:00Z',
  attendeeName: 'Alex Morgan',
};

const never = new AbortController().signal;

function openDesk(answer: () => Promise<Booking> = () => taken) {
  const asked: AppointmentRequest[] = [];
  const booked: Omit<Appointment, 'id'>[] = [];
  const calendar: Calendar = {
    book: (request) => {
      asked.push(request);
      return answer();
    },
  };
  const box = toolboxFor({
    names: ['book_appointment'],
    transferRules: { targets: [], systemPrompt: '', agentNumber: null, ownNumbers: [] },
    callTools: [createBookAppointment({ calendar, attendeePhone: CALLER })],
    clock: new FakeClock(),
  });
  const context = {
    transfer: () => Promise.resolve(),
    sendDigits: () => undefined,
    collectDigits: async () => '',
    appointmentBooked: (appointment: Omit<Appointment, 'id'>) => booked.push(appointment),
  };
  const book = (args: Readonly<Record<string, unknown>>) =>
    box.run({ id: 'call_1', name: 'book_appointment', arguments: args }, context, never);
  return { asked, booked, book };
}

const taken = Promise.resolve({ calendarId: 'desk', confirmed: true });

test('book_appointment books half an hour for the caller, and reports it to the call', async () => {
  const { asked, booked, book } = openDesk();

  const outcome = await book(ARGUMENTS);

  const request = {
    title: 'Check-up',
    startTime: new Date('2026-11-21T10:00:00Z'),
    endTime: new Date('2026-11-21T10:30:00Z'),
    attendeeName: 'Alex Morgan',
    attendeePhone: CALLER,
  };
  expect(asked).toEqual([request]);
  expect(booked).toEqual([{ ...request, calendarId: 'desk', confirmed: true }]);
  expect(outcome).toEqual({
    text: 'The appointment is booked: 2026-11-21T10:00:00.000Z, 30 minutes.',
    isDone: true,
  });
});

test('book_appointment takes the time zone and the length that it is given', async () => {
  const { asked, book } = openDesk();

  await book({ ...ARGUMENTS, startTime: '2026-11-21T10:00+02:00', durationMinutes: 45 });

  expect(asked).toMatchObject([
    { startTime: new Date('2026-11-21T08:00:00Z'), endTime: new Date('2026-11-21T08:45:00Z') },
  ]);
});

test('book_appointment tells the model when a person has yet to agree', async () => {
  const { booked, book } = openDesk(() =>
    Promise.resolve({ calendarId: 'desk', confirmed: false }),
  );

  const outcome = await book(ARGUMENTS);

  expect(outcome.text).toContain('has yet to be confirmed');
  expect(booked).toMatchObject([{ confirmed: false }]);
});

test.each([
  ['tomorrow at ten', 'ISO 8601'],
  ['2026-11-21', 'ISO 8601'],
  ['2026-11-21T10:00:00', 'ISO 8601'],
  ['2026-13-41T10:00:00Z', 'ISO 8601'],
])('book_appointment does not guess what the start time "%s" means', async (startTime, why) => {
  const { asked, booked, book } = openDesk();

  const outcome = await book({ ...ARGUMENTS, startTime });

  expect(outcome.text).toContain(why);
  expect([asked, booked]).toEqual([[], []]);
});

test.each([
  0, -30, 1441,
])('book_appointment refuses a length of %d minutes', async (durationMinutes) => {
  const { asked, book } = openDesk();

  const outcome = await book({ ...ARGUMENTS, durationMinutes });

  expect(outcome.text).toContain('from 1 to 1440 minutes');
  expect(asked).toEqual([]);
});

test('book_appointment takes no number from the model', async () => {
  const { asked, book } = openDesk();

  const outcome = await book({ ...ARGUMENTS, attendeePhone: '+390612345678' });

  expect(outcome.text).toContain('"attendeePhone" is not known');
  expect(asked).toEqual([]);
});

test.each([
  [
    new CalendarError('that time is taken'),
    'The appointment was not booked: that time is taken. Do not say that it was.',
  ],
  [
    new Error('connect ECONNREFUSED calendar.internal'),
    'Not done: it was refused or failed. Tell the caller that it did not work.',
  ],
])('book_appointment puts nothing on record when the calendar fails: %s', async (error, text) => {
  const { booked, book } = openDesk(() => Promise.reject(error));

  const outcome = await book(ARGUMENTS);

  expect(outcome.text).toBe(text);
  expect(booked).toEqual([]);
});
