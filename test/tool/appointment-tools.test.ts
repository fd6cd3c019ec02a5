/** Booking, changing and cancelling in the built-in calendar, as a model asks for it during calls. */
import { expect, test } from 'vitest';
import { phrasesFor } from '../../src/conversation/reply/phrases.ts';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import type { Agent } from '../../src/domain/agent/agent.ts';
import { CALLER, openAppointmentWorld } from '../support/calendar/appointment-world.ts';

const OTHER = '+12025550188';

/** The store's clock stands at Friday 2026-11-20 13:00 in Rome. */
const BOOKING = {
  ...{ title: 'Check-up', startTime: '2026-12-01T10:00', attendeeName: 'Alex Morgan' },
};

test('book_appointment books a local time and puts it on record with every field of the event', async () => {
  const { appointments, callFrom, events } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);

  const told = await ask('book_appointment', BOOKING);

  expect(told).toBe('The appointment is booked: Tuesday 2026-12-01 10:00, 30 minutes.');
  const [appointment] = await appointments();
  expect(appointment).toMatchObject({
    ...{ status: 'confirmed', isSynced: true, attendeePhone: CALLER },
    startsAt: new Date('2026-12-01T09:00Z'),
  });
  expect(await events()).toEqual([
    {
      id: expect.stringMatching(/^appt_[0-9A-Za-z]{24}$/),
      title: 'Check-up',
      startTime: '2026-12-01T09:00:00.000Z',
      endTime: '2026-12-01T09:30:00.000Z',
      attendeePhone: CALLER,
      attendeeName: 'Alex Morgan',
      calendarId: 'desk',
      confirmed: true,
    },
  ]);
});

test('the tools come with book_appointment and a calendar of the agent’s own environment, and not without', async () => {
  const { toolboxOf } = await openAppointmentWorld();
  const toolsOf = async (agent: Partial<Agent>) =>
    (await toolboxOf(agent)).descriptions.map(({ name }) => name);

  expect(await toolsOf({})).toEqual([
    ...['book_appointment', 'find_appointment_times', 'change_appointment', 'cancel_appointment'],
  ]);
  expect(await toolsOf({ tools: ['transfer_call'] })).toEqual([]);
  expect(await toolsOf({ calendar: null })).toEqual([]);
  expect(await toolsOf({ calendar: 'gone' })).toEqual([]);
  expect(await toolsOf({ environment: 'test' })).toEqual([]);
});

test('the agent asks before it books, moves or cancels on unsure words, and not before it looks', async () => {
  const { toolboxOf } = await openAppointmentWorld();
  const tools = await toolboxOf({});
  const { attendeeName, startTime } = BOOKING;

  const isSure = [
    { name: 'book_appointment', arguments: BOOKING },
    { name: 'change_appointment', arguments: { attendeeName, newStartTime: startTime } },
    { name: 'cancel_appointment', arguments: { attendeeName } },
    { name: 'find_appointment_times', arguments: { from: startTime } },
  ].map((call) => tools.needsSureWords({ id: 'tool_1', ...call }));

  expect(isSure).toEqual([true, true, true, false]);
  const { confirmations } = phrasesFor('de');
  expect(confirmations).toMatchObject({ change_appointment: expect.stringContaining('verlegen') });
});

test('two callers who want one slot at the same moment: one gets it, the other is offered the next', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const asks = [await callFrom(CALLER), await callFrom(OTHER)];

  const told = await Promise.all(asks.map((ask) => ask('book_appointment', BOOKING)));

  const refused = told.filter((text) => text.includes('that time is taken'));
  expect(refused).toEqual([
    'The appointment was not booked: that time is taken. Free: Tuesday 2026-12-01 10:30, ' +
      'Tuesday 2026-12-01 11:00, Tuesday 2026-12-01 11:30. Do not say that it was.',
  ]);
  expect(await appointments()).toHaveLength(1);
});

test('twenty callers at once never get more than the slots there are', async () => {
  const { appointments, callFrom } = await openAppointmentWorld({
    calendar: { bufferMinutes: 15 },
  });
  const asks = await Promise.all(
    Array.from({ length: 20 }, (_, index) => callFrom(`+120255501${10 + index}`)),
  );

  await Promise.all(
    asks.map((ask, index) => {
      const minute = index % 2 === 0 ? '00' : '30';
      return ask('book_appointment', { ...BOOKING, startTime: `2026-12-01T10:${minute}` });
    }),
  );

  expect(await appointments()).toHaveLength(1);
});

test('a repeated call of the tool books once, and says so again', async () => {
  const { appointments, callFrom, events } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);

  const told = [await ask('book_appointment', BOOKING), await ask('book_appointment', BOOKING)];

  expect(told[1]).toBe(told[0]);
  expect(await appointments()).toHaveLength(1);
  expect(await events()).toHaveLength(1);
});

test.each([
  ['2026-11-20T09:00', 'it is in the past'],
  ['2026-12-01T20:00', 'outside the opening hours'],
  ['2026-12-01T10:10', 'begin every 30 minutes'],
  ['2027-06-01T10:00', 'the next 60 days'],
  ['2026-02-30T10:00', 'that time does not exist'],
  ['2026-12-01T10:00:00Z', 'without an offset'],
  ['tomorrow at ten', 'without an offset'],
])('book_appointment does not book %s', async (startTime, why) => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);

  const told = await ask('book_appointment', { ...BOOKING, startTime });

  expect(told).toContain(why);
  expect(told).toContain('Do not say that it was');
  expect(await appointments()).toEqual([]);
});

test('book_appointment refuses a time that the clocks leave out', async () => {
  const { callFrom, store } = await openAppointmentWorld({
    calendar: { workingHours: { sunday: [{ from: '00:00', to: '24:00' }] } },
  });
  store.clock.setCalendar(Date.UTC(2027, 2, 20) - store.clock.nowMs());
  const ask = await callFrom(CALLER);

  const gap = await ask('book_appointment', { ...BOOKING, startTime: '2027-03-28T02:30' });
  const after = await ask('book_appointment', { ...BOOKING, startTime: '2027-03-28T03:00' });

  expect(gap).toContain('that time does not exist');
  expect(after).toContain('is booked: Sunday 2027-03-28 03:00');
});

test('find_appointment_times offers free ones around what is taken', async () => {
  const { callFrom } = await openAppointmentWorld();
  await (await callFrom(OTHER))('book_appointment', { ...BOOKING, durationMinutes: 60 });
  const ask = await callFrom(CALLER);

  const told = await ask('find_appointment_times', { from: '2026-12-01T10:00' });

  expect(told).toBe(
    'Free: Tuesday 2026-12-01 11:00, Tuesday 2026-12-01 11:30, Tuesday 2026-12-01 12:00.',
  );
});

test('change_appointment moves the caller’s own by number and name, and frees the time before', async () => {
  const { appointments, callFrom, events } = await openAppointmentWorld();
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  const again = await callFrom(CALLER);

  const told = await again('change_appointment', {
    ...{ attendeeName: 'Alex Morgen', newStartTime: '2026-12-02T15:00' },
  });
  const freed = await (await callFrom(OTHER))('book_appointment', BOOKING);

  expect(told).toBe('The appointment is now at Wednesday 2026-12-02 15:00.');
  expect(freed).toContain('is booked');
  expect((await appointments()).map(({ startsAt }) => startsAt.toISOString())).toEqual([
    '2026-12-01T09:00:00.000Z',
    '2026-12-02T14:00:00.000Z',
  ]);
  const [first, second] = await events();
  expect(second).toMatchObject({ id: first?.id, startTime: '2026-12-02T14:00:00.000Z' });
});

test('change_appointment leaves it where it was when the new time is taken, and offers others', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  await (await callFrom(OTHER))('book_appointment', { ...BOOKING, startTime: '2026-12-01T12:00' });
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);

  const told = await ask('change_appointment', {
    ...{ attendeeName: 'Morgan', newStartTime: '2026-12-01T12:00' },
  });

  expect(told).toContain('was not changed: that time is taken. Free: Tuesday 2026-12-01 12:30');
  expect(told).toContain('it stays at Tuesday 2026-12-01 10:00');
  expect((await appointments())[0]?.startsAt).toEqual(new Date('2026-12-01T09:00Z'));
});

test('cancel_appointment cancels, and the slot is free again', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);

  const told = await ask('cancel_appointment', { attendeeName: 'Alex Morgan' });
  const again = await ask('cancel_appointment', { attendeeName: 'Alex Morgan' });
  const other = await (await callFrom(OTHER))('book_appointment', BOOKING);

  expect(told).toBe('The appointment at Tuesday 2026-12-01 10:00 is cancelled.');
  expect(again).toContain('there is none');
  expect(other).toContain('is booked');
  expect((await appointments()).map(({ status }) => status).sort()).toEqual([
    'cancelled',
    'confirmed',
  ]);
});

test.each([
  ['another number', OTHER, 'Alex Morgan'],
  ['another name', CALLER, 'Sam Porter'],
  ['a withheld number', 'anonymous', 'Alex Morgan'],
])('an appointment is kept from %s, which learns nothing of it', async (_who, phone, name) => {
  const { appointments, callFrom } = await openAppointmentWorld();
  await (await callFrom(CALLER))('book_appointment', BOOKING);
  const stranger = await callFrom(phone);

  const cancelled = await stranger('cancel_appointment', { attendeeName: name });
  const changed = await stranger('change_appointment', {
    ...{ attendeeName: name, newStartTime: '2026-12-02T10:00' },
  });

  for (const told of [cancelled, changed]) {
    expect(told).toContain('there is none for the number of this call under that name');
    expect(told).not.toMatch(/10:00|Morgan/);
  }
  expect(await appointments()).toMatchObject([{ status: 'confirmed' }]);
});

test('a caller with several is asked which one', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);
  await ask('book_appointment', BOOKING);
  await ask('book_appointment', { ...BOOKING, startTime: '2026-12-03T10:00' });

  const unclear = await ask('cancel_appointment', { attendeeName: 'Alex' });
  const clear = await ask('cancel_appointment', {
    ...{ attendeeName: 'Alex', startTime: '2026-12-03T10:00' },
  });

  expect(unclear).toContain('several: Tuesday 2026-12-01 10:00, Thursday 2026-12-03 10:00; ask');
  expect(clear).toContain('Thursday 2026-12-03 10:00 is cancelled');
  expect(await appointments()).toMatchObject([{ status: 'confirmed' }, { status: 'cancelled' }]);
});

test('a call books three appointments at most, and a number five', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const bookFrom = async (day: number) => {
    const ask = await callFrom(CALLER);
    const told = [];
    for (const hour of [10, 11, 12, 13]) {
      told.push(
        await ask('book_appointment', { ...BOOKING, startTime: `2026-12-0${day}T${hour}:00` }),
      );
    }
    return told.filter((text) => text.includes('too many appointments')).length;
  };

  expect([await bookFrom(1), await bookFrom(2), await bookFrom(3)]).toEqual([1, 2, 4]);
  expect(await appointments()).toHaveLength(5);
});

test('a number called by us is known by the number that was dialled', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const ask = await callFrom('+12025550100', { direction: 'outbound', to: CALLER });

  await ask('book_appointment', BOOKING);

  expect(await appointments()).toMatchObject([{ attendeePhone: CALLER }]);
});

test('an aborted call of the tool books nothing', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  const ask = await callFrom(CALLER);

  await ask('book_appointment', BOOKING, AbortSignal.abort());

  expect(await appointments()).toEqual([]);
});

test('an erased call takes its appointment along', async () => {
  const { appointments, callFrom, store } = await openAppointmentWorld();
  await (await callFrom(CALLER, OVER))('book_appointment', BOOKING);
  const [kept] = await appointments();

  const order = { ...ORDER, kind: 'call', environment: 'live' } as const;
  await store.erasures.erase(kept?.callId ?? '', order);

  expect(await appointments()).toEqual([]);
});

test('the appointment of a call that has expired stays until it is over', async () => {
  const { appointments, callFrom, store } = await openAppointmentWorld();
  await (await callFrom(CALLER, OVER))('book_appointment', BOOKING);
  const account = await store.accounts.find('acct_1');
  if (account === undefined) throw new Error('There is no account');
  const callsDays = { ...account, retention: { ...KEEP_CALLS, callsDays: 1 } };
  await store.accounts.update(callsDays);
  await store.accountRetention.apply(callsDays, { ...ORDER, kind: 'retention' });

  const [kept] = await appointments();
  await store.retention.prune(new Date('2026-12-01T09:29Z'));
  const before = await appointments();
  await store.retention.prune(new Date('2026-12-01T09:31Z'));

  expect(await store.calls.findById(kept?.callId ?? '')).toBeUndefined();
  expect(before).toHaveLength(1);
  expect(await appointments()).toEqual([]);
});

const LONG_AGO = new Date('2026-01-01T00:00Z');

const OVER = { status: 'completed', startedAt: LONG_AGO, endedAt: LONG_AGO } as const;

const ORDER = {
  ...{ id: 'ers_1', accountId: 'acct_1', environment: null },
  ...{ askedBy: 'retention', askedAt: new Date('2026-11-20T12:00Z') },
};

const TEXTS = [
  ...['', ' ', 'null', '{}', '0', '-1', '1e9', '2026', '9999-99-99T99:99', '+275760-09-13T00:00'],
  ...['2026-12-01T10:00\n', '2026-12-01T10:00+23:59', '2026-12-01T24:00', '2026-12-01T10:00Z'],
  ...[
    "'; drop table appointments; --",
    '../../x',
    'x'.repeat(5000),
    '\u0000',
    '\ud800',
    '２０２６',
  ],
  ...['BEGIN:VEVENT\r\nUID:x', '__proto__', '[2026-12-01]', 'Infinity', '2026-12-01 10:00:00.5'],
];

const VALUES: readonly unknown[] = [
  ...TEXTS,
  0,
  -1,
  1e308,
  Number.NaN,
  true,
  null,
  [],
  {},
  undefined,
];

/** A hundred sets and more: each value in the place of each argument, arguments that are not known, and none at all. */
const HOSTILE = [
  ...VALUES.flatMap((value) => [
    ['book_appointment', { ...BOOKING, startTime: value }] as const,
    ['find_appointment_times', { from: value }] as const,
    ['change_appointment', { attendeeName: 'Alex Morgan', newStartTime: value }] as const,
    ['cancel_appointment', { attendeeName: value }] as const,
  ]),
  ...VALUES.filter((value) => value !== undefined).map(
    (value) => ['book_appointment', { ...BOOKING, durationMinutes: value }] as const,
  ),
  ...['attendeePhone', 'calendar', 'confirmed', 'id', 'toString', 'constructor'].map(
    (name) => ['book_appointment', { ...BOOKING, [name]: '+390612345678' }] as const,
  ),
];

test('a hundred hostile sets of arguments book nothing, change nothing and cancel nothing', async () => {
  const { appointments, callFrom } = await openAppointmentWorld();
  await (await callFrom(OTHER))('book_appointment', { ...BOOKING, startTime: '2026-12-01T12:00' });
  const before = await appointments();
  const told: string[] = [];

  for (const [name, args] of HOSTILE) {
    const ask = await callFrom(CALLER);
    told.push(await ask(name, args));
  }

  expect(HOSTILE.length).toBeGreaterThan(100);
  expect(await appointments()).toEqual(before);
  const refusals = told.filter((text) =>
    /^(Not done|No times were found|The appointment was not)/.test(text),
  );
  expect(told.filter((text) => !refusals.includes(text))).toEqual([]);
});
