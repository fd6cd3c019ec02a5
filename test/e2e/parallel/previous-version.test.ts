/** Today's server on the data folder that the version before left behind after `kill -9`. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIVE_KEY, startServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { type PreviousFolder, unpackPreviousFolder } from '../../support/store/previous-version.ts';

const SIGNING_SECRET = 'whsec_b2xkLWRhdGEtc2lnbmluZy1zZWNyZXQtMQ==';
const KEYS = { live: LIVE_KEY, test: TEST_KEY };

/** What the call that was cut off, the date and the deliveries since have changed. */
const CHANGED =
  /^(total|totalCallsToday|totalMinutesToday|minutesUsed|minutesRemaining|period|recordingUrl|lastUsedAt|requestId|url)$/;

type Json = Readonly<Record<string, unknown>>;
type Item = Json & { readonly id: string };

const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
const receiver = createServer(async (request, response) => {
  received.push({ headers: request.headers, body: await text(request) });
  response.end();
});
let folder: PreviousFolder;
let server: TestServer;

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  folder = await unpackPreviousFolder((receiver.address() as AddressInfo).port);
  const environment = { WEBHOOK_ALLOW_LOCAL: 'true' };
  server = await (await startServer({ dataDir: folder.dataDir, environment })).ready();
});

afterAll(async () => {
  await server?.stop();
  folder?.remove();
  receiver.close();
});

async function get(path: string, key = LIVE_KEY): Promise<{ status: number; body: Json }> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${server.baseUrl}${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Json };
}

/** Without what has changed, and with times of day only: the copy is moved by whole days. */
function lasting(value: unknown): unknown {
  const kept = JSON.stringify(value, (name, field) => (CHANGED.test(name) ? undefined : field));
  return JSON.parse(kept.replace(/\b\d{4}-\d\d-\d\d(?=T\d\d:)/g, 'DAY'));
}

const dataOf = (body: unknown) => (body as { readonly data: readonly Item[] }).data;

/** Paths whose answers are the same again. */
function pathsOf(environment: 'live' | 'test'): string[] {
  const paths = Object.keys(folder.answers[environment]);
  return paths.filter((path) => !/deliveries|analytics|\/api\/(calls|events)\?/.test(path));
}

test.each([
  'live',
  'test',
] as const)('agents, versions, calls, transcripts, keys and endpoints of the %s environment are answered as before', async (environment) => {
  const before = folder.answers[environment];

  for (const path of pathsOf(environment)) {
    const { body } = await get(path, KEYS[environment]);
    expect(lasting(body), path).toMatchObject(lasting(before[path]) as object);
  }
  expect(pathsOf(environment).length).toBeGreaterThan(10);
});

test.each([
  'live',
  'test',
] as const)('lists of calls and events of the %s environment hold all rows of before', async (environment) => {
  const before = folder.answers[environment];

  for (const path of ['/api/calls?limit=100', '/api/events?limit=100']) {
    const { body } = await get(path, KEYS[environment]);
    const now = new Map(dataOf(body).map((item) => [item.id, lasting(item)]));
    for (const item of dataOf(before[path])) {
      expect(now.get(item.id), path).toMatchObject(lasting(item) as object);
    }
  }
});

test('recordings are downloaded byte by byte', async () => {
  const { body } = await get('/api/calls?limit=100');
  const finished = dataOf(body).filter(({ id }) => id !== folder.callInProgress);

  expect(finished).toHaveLength(2);
  for (const { id } of finished) {
    const { recordingUrl } = (await get(`/api/calls/${id}`)).body;
    const { pathname, search } = new URL(String(recordingUrl));
    const response = await fetch(`${server.baseUrl}${pathname}${search}`);
    const file = readFileSync(join(folder.dataDir, 'recordings', `${id}.wav`));
    expect(Buffer.from(await response.arrayBuffer()).equals(file)).toBe(true);
    expect(file.length).toBeGreaterThan(50_000);
  }
});

test('the call that was in progress is ended, recorded and counted', async () => {
  const { body: call } = await get(`/api/calls/${folder.callInProgress}`);
  const { body: analytics } = await get('/api/analytics?period=last_30_days');

  expect(call).toMatchObject({ status: 'failed', endReason: 'error' });
  expect(call.durationSeconds).toBeGreaterThan(0);
  expect(call.recordingUrl).not.toBeNull();
  expect(analytics.summary).toMatchObject({ totalCalls: 3, inboundCalls: 3, completedCalls: 2 });
});

test('analytics of simulated calls are those of before', async () => {
  const path = '/api/analytics?period=last_30_days';

  const { body } = await get(path, TEST_KEY);

  const { summary } = folder.answers.test[path] as Json;
  expect(body.summary).toEqual(summary);
});

test('due deliveries leave, signed with the secret of before; failed ones stay', async () => {
  const statuses = async () => {
    const lists = [LIVE_KEY, TEST_KEY].map((key) => get('/api/webhooks/deliveries?limit=100', key));
    const deliveries = (await Promise.all(lists)).flatMap(({ body }) => dataOf(body));
    return new Map(deliveries.map(({ id, status }) => [id, status]));
  };
  const before = ['live', 'test'].flatMap((environment) =>
    dataOf(folder.answers[environment as 'live']['/api/webhooks/deliveries?limit=100']),
  );

  await expect
    .poll(async () => [...(await statuses()).values()].filter((status) => status === 'pending'), {
      timeout: 20_000,
    })
    .toEqual([]);

  const now = await statuses();
  for (const { id, status } of before) {
    expect(now.get(id)).toBe(status === 'failed' ? 'failed' : 'succeeded');
  }
  for (const { headers, body } of received) {
    const signed = `${headers['x-service-timestamp']}.${body}`;
    const signature = createHmac('sha256', SIGNING_SECRET).update(signed).digest('hex');
    expect(headers['x-service-signature']).toBe(signature);
  }
  expect(received.length).toBeGreaterThanOrEqual(5);
});

test('keys keep their scopes', async () => {
  const statuses = await Promise.all(
    ['/api/calls', '/api/agents'].map(async (path) => (await get(path, folder.scopedKey)).status),
  );

  expect(statuses).toEqual([200, 403]);
});

test('an agent of before can be changed, and its history goes on', async () => {
  const agents = dataOf(folder.answers.live['/api/agents?limit=100']);
  const id = agents.find(({ name }) => name === 'Reception')?.id;

  const { status } = await server.api('PATCH', `/api/agents/${id}`, { greeting: 'Hello again.' });

  const { body } = await get(`/api/agents/${id}/versions`);
  expect(status).toBe(200);
  expect(dataOf(body).map(({ version }) => version)).toEqual([3, 2, 1]);
});
