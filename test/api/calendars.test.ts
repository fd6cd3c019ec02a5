/** Calendars over REST: what is taken and refused, secrets, appointments, and the feed by its link. */
import { describe, expect, test } from 'vitest';
import { FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildAppointment } from '../support/store/build-appointment.ts';

const DESK = { name: 'desk', kind: 'builtin', timeZone: 'Europe/Rome' };

const CLOUD = {
  ...{ name: 'cloud', kind: 'caldav', timeZone: 'Europe/Rome' },
  url: 'https://cloud.example.com/dav/calendars/desk/',
  ...{ username: 'desk', password: 'app-password' },
};

const AGENT = { name: 'Desk', greeting: 'Hello.', systemPrompt: 'You answer for a dentist.' };

const MAIN = { accountId: 'acct_main', environment: 'live' } as const;

const TOMORROW = new Date(Date.now() + 86_400_000);

interface CalendarBody {
  readonly feedUrl: string;
}

async function openWorld() {
  const api = await openTestApi();
  const make = (fields: object) => api.json('POST', '/api/calendars', { body: fields });
  const change = (name: string, fields: object) =>
    api.json('PATCH', `/api/calendars/${name}`, { body: fields });
  const agent = (fields: object) =>
    api.json('POST', '/api/agents', { body: { ...AGENT, ...fields } });
  const feed = (url: string) => {
    const path = url.replace('https://voice.example', '');
    return api.request('GET', path, { key: null });
  };
  return { api, make, change, agent, feed };
}

const feedOf = ({ body }: { body: unknown }) => (body as CalendarBody).feedUrl;

describe('/api/calendars', () => {
  test('makes a built-in calendar with nothing but a name and a time zone', async () => {
    const { api, make } = await openWorld();

    const made = await make(DESK);

    expect(made).toMatchObject({
      status: 201,
      body: {
        ...DESK,
        workingHours: { monday: [{ from: '09:00', to: '17:00' }] },
        ...{ slotMinutes: 30, bufferMinutes: 0, minNoticeMinutes: 60, maxDaysAhead: 60 },
        ...{ url: null, username: null, hasPassword: false },
      },
    });
    expect((await api.json('GET', '/api/calendars/desk')).body).toEqual(made.body);
    expect((await api.json('GET', '/api/calendars')).body).toMatchObject({
      data: [made.body],
      total: 1,
    });
  });

  test('never shows a password, keeps it in a change, and wants it again for another server', async () => {
    const { api, make, change } = await openWorld();

    const made = await make(CLOUD);
    const changed = await change('cloud', { slotMinutes: 20 });
    const moved = await change('cloud', { url: 'https://evil.example.com/' });
    const both = { url: 'https://other.example.com/', password: 'another' };
    const movedWith = await change('cloud', both);

    expect([made.status, changed.status, moved.status, movedWith.status]).toEqual([
      201, 200, 400, 200,
    ]);
    expect(made.body).toMatchObject({ hasPassword: true, username: 'desk' });
    expect(JSON.stringify([made, changed, moved, movedWith])).not.toMatch(/app-password|another"/);
    const kept = await api.store.calendars.find(MAIN, 'cloud');
    expect(kept).toMatchObject({ slotMinutes: 20, password: 'another' });
  });

  test.each([
    [{ ...DESK, timeZone: 'Mars/Olympus' }, 400, 'timeZone'],
    [{ ...DESK, timeZone: '+01:00' }, 400, 'timeZone'],
    [{ ...DESK, name: 'Front Desk' }, 400, 'name'],
    [{ ...DESK, slotMinutes: 4 }, 400, 'slotMinutes'],
    [{ ...DESK, workingHours: { monday: [{ from: '12:00', to: '09:00' }] } }, 400, 'monday'],
    [{ ...DESK, workingHours: { monday: [{ from: '9:00', to: '12:00' }] } }, 400, 'monday'],
    [
      {
        ...DESK,
        workingHours: {
          friday: [
            { from: '09:00', to: '12:00' },
            { from: '11:00', to: '13:00' },
          ],
        },
      },
      400,
      'friday.1',
    ],
    [{ ...DESK, password: 'x' }, 400, 'password'],
    [{ ...CLOUD, url: undefined }, 400, 'url'],
    [{ ...CLOUD, url: 'http://cloud.example.com/' }, 400, 'url'],
    [{ ...CLOUD, url: 'https://cloud.example.com/?a=b' }, 400, 'url'],
    [{ ...CLOUD, url: 'https://169.254.169.254/dav/' }, 422, 'url'],
  ])('refuses %j', async (fields, status, field) => {
    const { make } = await openWorld();

    const refused = await make(fields);

    expect(refused.status).toBe(status);
    expect(refused.body.error.message).toContain(field);
  });

  test('an agent names a calendar that exists, which then cannot be deleted', async () => {
    const { api, make, agent } = await openWorld();
    await make(DESK);

    const unknown = await agent({ calendar: 'none' });
    const known = await agent({ calendar: 'desk' });
    const held = await api.json('DELETE', '/api/calendars/desk');
    const path = `/api/agents/${known.body.id}`;
    await api.json('PATCH', path, { body: { calendar: null } });
    const free = await api.request('DELETE', '/api/calendars/desk');

    expect(unknown).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'calendar' }] } },
    });
    expect([known.status, held.status, free.status]).toEqual([201, 409, 204]);
    expect(held.body.error.message).toContain('the agent "Desk" uses it');
    const [version] = (await api.json('GET', `${path}/versions`)).body.data;
    expect(version).toMatchObject({ changed: ['calendar'], agent: { calendar: null } });
  });

  test('a calendar with appointments to come cannot be deleted; cancelled ones do not count', async () => {
    const { api, make } = await openWorld();
    await make(DESK);
    const appointment = buildAppointment({ ...MAIN, startsAt: TOMORROW, endsAt: TOMORROW });
    await api.store.appointments.insert(appointment);

    const held = await api.json('DELETE', '/api/calendars/desk');
    await api.store.appointments.update({ ...appointment, status: 'cancelled' });
    const free = await api.request('DELETE', '/api/calendars/desk');

    expect([held.status, free.status]).toEqual([409, 204]);
    expect(await api.store.appointments.find('appt_1')).toBeUndefined();
  });

  test('lists appointments from now on, or from an instant', async () => {
    const { api, make } = await openWorld();
    await make(DESK);
    const past = new Date(0);
    const coming = buildAppointment({ ...MAIN, startsAt: TOMORROW, endsAt: TOMORROW });
    await api.store.appointments.insert(coming);
    const over = { id: 'appt_0', startsAt: past, endsAt: past };
    await api.store.appointments.insert(buildAppointment({ ...MAIN, ...over }));

    const path = '/api/calendars/desk/appointments';
    const now = await api.json('GET', path);
    const all = await api.json('GET', `${path}?from=1970-01-01T00:00:00Z`);

    expect(now.body).toMatchObject({
      total: 1,
      data: [
        {
          ...{ id: 'appt_1', title: 'Check-up', attendeeName: 'Alex Morgan', confirmed: true },
          ...{ startTime: TOMORROW.toISOString(), calendarId: 'desk', status: 'confirmed' },
        },
      ],
    });
    expect(all.body.data.map(({ id }) => id)).toEqual(['appt_0', 'appt_1']);
  });

  test.each([
    ['another account', FOREIGN_KEY],
    ['the other environment', TEST_KEY],
  ])('is not found by %s', async (_who, key) => {
    const { api, make } = await openWorld();
    await make(DESK);

    const found = await api.json('GET', '/api/calendars/desk', { key });

    expect(found).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  });
});

describe('/calendars/{token}.ics', () => {
  test('shows confirmed appointments under its link, until the link is renewed', async () => {
    const { api, make, feed } = await openWorld();
    const link = feedOf(await make(DESK));
    await api.store.appointments.insert(
      buildAppointment({
        ...MAIN,
        startsAt: TOMORROW,
        endsAt: TOMORROW,
        title: 'Teeth; all, of\nthem',
      }),
    );
    const times = { startsAt: TOMORROW, endsAt: TOMORROW };
    const off = { id: 'appt_2', title: 'Secret', status: 'cancelled' as const, ...times };
    await api.store.appointments.insert(buildAppointment({ ...MAIN, ...off }));

    const shown = await feed(link);
    const text = await shown.text();
    const renewed = feedOf(await api.json('POST', '/api/calendars/desk/feed'));

    expect(shown.headers.get('Content-Type')).toContain('text/calendar');
    expect(text).toContain('BEGIN:VEVENT\r\nUID:appt_1');
    expect(text).toContain('SUMMARY:Teeth\\; all\\, of\\nthem (Alex Morgan)');
    expect(text).not.toContain('Secret');
    expect((await feed(link)).status).toBe(404);
    expect((await feed(renewed)).status).toBe(200);
  });

  test.each([
    '/calendars/x.ics',
    `/calendars/${'a'.repeat(32)}.ics`,
    '/calendars/',
  ])('is 404 at %s', async (path) => {
    const { api } = await openWorld();

    expect((await api.request('GET', path, { key: null })).status).toBe(404);
  });
});
