/** Appointments by telephone: two callers and one slot, a change, a cancellation, and a process that dies while it books. */
import { expect, onTestFinished, test } from 'vitest';
import { PASSWORD, Radicale, USERNAME } from '../../support/calendar/radicale.ts';
import { startScriptedOllama } from '../../support/server/scripted-ollama.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import {
  BUSY_BRIDGE_MS,
  callAgent,
  noteToolCalls,
  soundSince,
} from '../../support/server/tool-wait.ts';
import { WebhookReceiver } from '../../support/webhook/webhook-receiver.ts';

const NUMBER = '+12025550123';

const ALEX = '+12025550187';

const SAM = '+12025550188';

/** In the next week but one. */
const DAY = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);

const HOURS = [{ from: '08:00', to: '18:00' }];

const EVERY_DAY = {
  ...{ monday: HOURS, tuesday: HOURS, wednesday: HOURS, thursday: HOURS, friday: HOURS },
  ...{ saturday: HOURS, sunday: HOURS },
};

const CALENDAR = { name: 'desk', timeZone: 'Europe/Rome', workingHours: EVERY_DAY };

/** What the model asks for after a key. */
const BY_KEY: Readonly<
  Record<string, readonly [tool: string, args: Readonly<Record<string, unknown>>]>
> = {
  '1': [
    'book_appointment',
    { title: 'Check-up', startTime: `${DAY}T10:00`, attendeeName: 'Alex Morgan' },
  ],
  '2': [
    'book_appointment',
    { title: 'Filling', startTime: `${DAY}T10:30`, attendeeName: 'Sam Porter' },
  ],
  '3': ['change_appointment', { attendeeName: 'Alex Morgan', newStartTime: `${DAY}T15:00` }],
  '4': ['cancel_appointment', { attendeeName: 'Alex Morgan' }],
};

function answerTo({ role, content }: { readonly role: string; readonly content: string }) {
  if (role === 'tool') return { content: content.replaceAll(':', ' ') };
  const key = /pressed.*?(\d)/.exec(content)?.[1] ?? '';
  const asked = BY_KEY[key];
  return asked === undefined ? { content: 'Hello.' } : { tool: asked[0], arguments: asked[1] };
}

async function openWorld(options: { readonly dataDir?: string } = {}) {
  const model = noteToolCalls(answerTo);
  const environment = {
    ...(await startScriptedOllama(model.answerTo)),
    WEBHOOK_ALLOW_LOCAL: 'true',
  };
  const server = await (await startServer({ environment, ...options })).ready();
  onTestFinished(() => server.stop());
  return { server, environment, toolCalledAtMs: model.toolCalledAtMs };
}

async function setUp(server: TestServer, calendar: object): Promise<void> {
  const made = await server.api('POST', '/api/calendars', { ...CALENDAR, ...calendar });
  expect(made.status).toBe(201);
  await server.createAgent({
    ...{ greeting: 'Hello.', tools: ['book_appointment'], calendar: 'desk' },
  });
}

/** Calls, and gives what presses a key and resolves with the transcript once it has the words. */
async function callFrom(server: TestServer, number: string) {
  const { call, id, voicedAtMs, words } = await callAgent(server, NUMBER, { number });
  return {
    id,
    voicedAtMs,
    press: (key: string) => call.line.press(`${key}#`),
    hears: (said: string) => expect.poll(words, { timeout: 20_000 }).toContain(said),
    hangUp: () => call.hangUp(),
  };
}

async function appointmentsOf(server: TestServer) {
  const { body } = await server.api('GET', '/api/calendars/desk/appointments');
  return body.data as readonly Readonly<Record<string, unknown>>[];
}

test('callers book, are offered the next slot, move and cancel; the webhook has every field', async () => {
  const { server } = await openWorld();
  const receiver = await WebhookReceiver.open();
  const endpoint = { url: receiver.url, events: ['appointment.booked'] };
  await server.api('POST', '/api/webhooks/endpoints', endpoint);
  await setUp(server, { kind: 'builtin' });

  const alex = await callFrom(server, ALEX);
  alex.press('1');
  await alex.hears('is booked');
  await alex.hangUp();
  const sam = await callFrom(server, SAM);
  sam.press('1');
  await sam.hears('that time is taken');
  await sam.hears('10 30');
  sam.press('2');
  await sam.hears('is booked');
  sam.press('4');
  await sam.hears('there is none for the number of this call');
  await sam.hangUp();
  const again = await callFrom(server, ALEX);
  again.press('3');
  await again.hears('is now at');
  const moved = await appointmentsOf(server);
  again.press('4');
  await again.hears('is cancelled');
  await again.hangUp();
  await receiver.has(3);

  expect(moved).toMatchObject([
    { attendeeName: 'Sam Porter', attendeePhone: SAM, title: 'Filling', confirmed: true },
    { attendeeName: 'Alex Morgan', attendeePhone: ALEX, title: 'Check-up', confirmed: true },
  ]);
  const [booking] = receiver.received.map(({ body }) => JSON.parse(body));
  expect(booking).toMatchObject({
    event: 'appointment.booked',
    data: {
      callId: alex.id,
      appointment: {
        id: expect.stringMatching(/^appt_/),
        title: 'Check-up',
        ...{
          attendeePhone: ALEX,
          attendeeName: 'Alex Morgan',
          calendarId: 'desk',
          confirmed: true,
        },
      },
    },
  });
  const { startTime, endTime } = booking.data.appointment;
  expect(Date.parse(endTime) - Date.parse(startTime)).toBe(30 * 60_000);
  expect((await appointmentsOf(server)).map(({ status }) => status).sort()).toEqual([
    'cancelled',
    'confirmed',
  ]);
  expect(server.output).not.toMatch(/Morgan|Porter/);
});

test('a process that is killed while the calendar books: after the restart there is one event, confirmed', async () => {
  const radicale = await Radicale.open();
  const { server, environment } = await openWorld();
  const access = { url: radicale.url, username: USERNAME, password: PASSWORD };
  await setUp(server, { kind: 'caldav', ...access });
  radicale.answers = 'held';

  const alex = await callFrom(server, ALEX);
  alex.press('1');
  await expect.poll(() => radicale.held, { timeout: 20_000 }).toBe(1);
  server.kill('SIGKILL');
  await server.exited;
  const restarted = await (await startServer({ environment, dataDir: server.dataDir })).ready();
  onTestFinished(() => restarted.stop());

  await expect
    .poll(() => appointmentsOf(restarted), { timeout: 30_000 })
    .toMatchObject([{ status: 'confirmed', confirmed: true, attendeePhone: ALEX }]);
  expect(radicale.events).toHaveLength(1);
  const sam = await callFrom(restarted, SAM);
  sam.press('1');
  await sam.hears('that time is taken');
  await sam.hangUp();
  expect(radicale.events).toHaveLength(1);
  expect(server.output + restarted.output).not.toContain(PASSWORD);
});

test('a calendar that is down: the caller is told, and the wish is kept', async () => {
  const radicale = await Radicale.open();
  const { server } = await openWorld();
  const access = { url: radicale.url, username: USERNAME, password: PASSWORD };
  await setUp(server, { kind: 'caldav', ...access });
  await radicale.kill();

  const alex = await callFrom(server, ALEX);
  alex.press('1');
  await alex.hears('is noted');
  await alex.hangUp();

  expect(await appointmentsOf(server)).toMatchObject([
    { status: 'open', reason: 'unreachable', confirmed: false, attendeeName: 'Alex Morgan' },
  ]);
});

test('a calendar that hangs leaves no dead air: the caller hears a phrase at once, and that the wish is noted', async () => {
  const radicale = await Radicale.open();
  const { server, toolCalledAtMs } = await openWorld();
  const access = { url: radicale.url, username: USERNAME, password: PASSWORD };
  await setUp(server, { kind: 'caldav', ...access });
  radicale.answers = 'held';

  const alex = await callFrom(server, ALEX);
  alex.press('1');
  await alex.hears('is noted');
  await alex.hangUp();

  const since = soundSince(toolCalledAtMs[0], alex.voicedAtMs);
  expect(radicale.held).toBe(1);
  expect(since[0]).toBeGreaterThan(BUSY_BRIDGE_MS.min);
  expect(since[0]).toBeLessThan(BUSY_BRIDGE_MS.max);
  expect(await appointmentsOf(server)).toMatchObject([{ attendeeName: 'Alex Morgan' }]);
});
