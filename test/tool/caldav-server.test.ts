/** CalDAV with a server that does not behave: nothing is taken for a free calendar, and nothing is sent elsewhere. */
import { expect, onTestFinished, test } from 'vitest';
import type { Calendar } from '../../src/domain/calendar/calendar.ts';
import { CalendarServers } from '../../src/tool/calendar/live-calendars.ts';
import { buildAppointment, buildCalendar } from '../support/store/build-appointment.ts';
import { type Behaviour, WebhookReceiver } from '../support/webhook/webhook-receiver.ts';

const SPAN = { start: new Date('2026-12-01T00:00Z'), end: new Date('2026-12-02T00:00Z') };

const xml = { 'content-type': 'application/xml' };

function multistatus(data: string): string {
  return `<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><response>
    <href>/dav/a.ics</href><propstat><prop>${data}</prop><status>HTTP/1.1 200 OK</status></propstat>
    </response></multistatus>`;
}

async function openWorld(behave: Behaviour, fields: Partial<Calendar> = {}, allowLocal = true) {
  const receiver = await WebhookReceiver.open(behave);
  const servers = new CalendarServers({ rules: { allowLocal, allowPrivate: false }, version: '1' });
  onTestFinished(() => servers.stop());
  const access = { username: 'desk', password: 'pass' };
  const url = `http://127.0.0.1:${receiver.port}/dav`;
  const server = servers.open(buildCalendar({ kind: 'caldav', url, ...access, ...fields }));
  if (server === undefined) throw new Error('a CalDAV calendar has a server');
  return { receiver, server };
}

const never = new AbortController().signal;

test.each<[string, Behaviour]>([
  ['the page of a login', (response) => response.writeHead(200).end('<html>Sign in</html>')],
  ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['no permission', (response) => response.writeHead(403).end()],
  ['no XML', (response) => response.writeHead(207, xml).end('{}')],
  ['broken XML', (response) => response.writeHead(207, xml).end('<multistatus xmlns="DAV:"><resp')],
  ['XML of another kind', (response) => response.writeHead(207, xml).end('<html>x</html>')],
  [
    'a text as XML',
    (response) => response.writeHead(207, { 'content-type': 'text/plain' }).end('x'),
  ],
  ['an event without text', (response) => response.writeHead(207, xml).end(multistatus(''))],
  [
    'an event that is none',
    (response) =>
      response.writeHead(207, xml).end(multistatus('<c:calendar-data>hello</c:calendar-data>')),
  ],
  [
    'five megabytes',
    (response) => response.writeHead(207, xml).end(multistatus('x'.repeat(5_000_000))),
  ],
  ['a broken connection', (response) => void response.destroy()],
])('busy refuses %s', async (_what, behave) => {
  const { receiver, server } = await openWorld(behave);

  await expect(server.busy(SPAN, '', never)).rejects.toMatchObject({ name: 'CalendarServerError' });
  expect(receiver.received).toHaveLength(1);
});

test('busy takes an empty list for a free calendar, and asks with the user’s password', async () => {
  const { receiver, server } = await openWorld((response) =>
    response.writeHead(207, xml).end('<multistatus xmlns="DAV:"/>'),
  );

  expect(await server.busy(SPAN, '', never)).toEqual([]);
  const [asked] = receiver.received;
  expect(asked).toMatchObject({ method: 'REPORT', path: '/dav/' });
  expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('desk:pass').toString('base64')}`);
  expect(asked?.body).toContain('start="20261201T000000Z"');
});

test('no request leaves for an address that the rules refuse', async () => {
  const { receiver, server } = await openWorld((response) => response.end(), {}, false);

  await expect(server.busy(SPAN, '', never)).rejects.toMatchObject({ name: 'CalendarServerError' });
  await expect(server.put(buildAppointment(), never)).rejects.toThrow();
  expect(receiver.received).toEqual([]);
});

test('put looks first, and writes once more where the event has changed meanwhile', async () => {
  let puts = 0;
  const { receiver, server } = await openWorld((response, { method }) => {
    if (method === 'GET') response.writeHead(404).end();
    else response.writeHead(++puts === 1 ? 412 : 201).end();
  });

  await server.put(buildAppointment(), never);

  expect(receiver.received.map(({ method }) => method)).toEqual(['GET', 'PUT', 'GET', 'PUT']);
  expect(receiver.received[1]?.headers['if-none-match']).toBe('*');
  expect(receiver.received[1]?.path).toBe('/dav/appt_1.ics');
});

test('put gives up where the event changes again and again', async () => {
  const { receiver, server } = await openWorld((response, { method }) =>
    response.writeHead(method === 'GET' ? 404 : 412).end(),
  );

  await expect(server.put(buildAppointment(), never)).rejects.toThrow('status 412');
  expect(receiver.received).toHaveLength(4);
});

test('put leaves an event alone that it cannot read', async () => {
  const { receiver, server } = await openWorld((response) => response.end('<html>Sign in</html>'));

  await expect(server.put(buildAppointment(), never)).rejects.toMatchObject({
    ...{ name: 'CalendarServerError', message: 'the event in the calendar is unreadable' },
  });
  expect(receiver.received).toHaveLength(1);
});

test('remove takes an event that is gone for removed', async () => {
  const { receiver, server } = await openWorld((response) => response.writeHead(404).end());

  await server.remove(buildAppointment(), never);

  expect(receiver.received).toMatchObject([{ method: 'DELETE', path: '/dav/appt_1.ics' }]);
});

test('an aborted request ends at once', async () => {
  const { server } = await openWorld(() => undefined);
  const abort = new AbortController();

  const asked = server.busy(SPAN, '', abort.signal);
  abort.abort(new Error('enough'));

  await expect(asked).rejects.toThrow();
});
