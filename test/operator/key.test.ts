/** The dashboard's own keys: what they may do, what they cost, and when they die. */
import { expect, onTestFinished, test } from 'vitest';
import { hashOfKey } from '../../src/domain/account/api-key.ts';
import { EventReader } from '../support/api/event-reader.ts';
import { LIVE_KEY, type TestApi } from '../support/api/test-api.ts';
import { Browser, openDashboard, openSignedIn } from '../support/dashboard/dashboard-world.ts';

const MINUTE_MS = 60_000;

async function watch(api: TestApi, key: string): Promise<EventReader> {
  const reader = new EventReader(await api.request('GET', '/api/live/calls', { key }));
  onTestFinished(() => reader.cancel());
  await reader.next();
  return reader;
}

test('POST /dashboard/key gives a key that does everything in its environment', async () => {
  const { api, browser } = await openSignedIn();
  const [live, sandbox] = [await browser.key(), await browser.key({ environment: 'test' })];

  const asked = [
    await api.request('GET', '/api/agents', { key: live }),
    await api.request('GET', '/api/keys', { key: live }),
    await api.request('GET', '/api/account', { key: sandbox }),
  ];

  expect([live, sandbox].map((key) => key.replace(/\w{32}$/, ''))).toEqual([
    'svc_live_',
    'svc_test_',
  ]);
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('POST /dashboard/key makes no key for an account or environment that there is not', async () => {
  const { browser } = await openSignedIn();
  const ask = (body: object) => browser.json('POST', '/dashboard/key', { body });

  const noAccount = await ask({ accountId: 'acct_none', environment: 'live' });
  const noEnvironment = await ask({ accountId: 'acct_main', environment: 'both' });

  expect([noAccount.status, noEnvironment.status]).toEqual([404, 400]);
});

test('A key of the dashboard is neither kept nor listed', async () => {
  const { api, browser, store } = await openSignedIn();
  const before = (await store.apiKeys.list({ accountId: 'acct_main', environment: 'live' })).length;

  const key = await browser.key();

  const { body } = await api.json('GET', '/api/keys', { key });
  expect(await store.apiKeys.list({ accountId: 'acct_main', environment: 'live' })).toHaveLength(
    before,
  );
  expect(JSON.stringify(body)).not.toContain(key.slice(-4));
});

test('A key of the dashboard lives for fifteen minutes, and another takes its place before', async () => {
  const { api, browser, store } = await openSignedIn();
  const status = async (key: string) => (await api.request('GET', '/api/agents', { key })).status;
  const made = await browser.json('POST', '/dashboard/key', {
    body: { accountId: 'acct_main', environment: 'live' },
  });
  const endsInMs = new Date(made.body.expiresAt).getTime() - store.clock.nowMs();

  store.clock.advance(14 * MINUTE_MS);
  const next = await browser.key();
  store.clock.advance(MINUTE_MS - 1);
  const atTheEnd = await status(made.body.key);
  store.clock.advance(1);

  expect(endsInMs).toBe(15 * MINUTE_MS);
  expect([atTheEnd, await status(made.body.key), await status(next)]).toEqual([200, 401, 200]);
});

test('Requests with a key of the dashboard are counted apart from the account', async () => {
  const { api, browser } = await openSignedIn();
  const key = await browser.key();
  const countsOf = async (shown: string) => {
    const { headers } = await api.request('GET', '/api/agents', { key: shown });
    return [headers.get('X-RateLimit-Limit'), headers.get('X-RateLimit-Remaining')];
  };

  await countsOf(key);

  expect(await countsOf(LIVE_KEY)).toEqual(['10000', '9999']);
  expect(await countsOf(key)).toEqual(['10000', '9998']);
});

test('Signing out kills the key, and the live view that was opened with it', async () => {
  const { api, browser, store } = await openSignedIn();
  const key = await browser.key();
  const reader = await watch(api, key);
  store.clock.advance(1000);
  const viewsBefore = store.liveFeed.size;

  await browser.ask('POST', '/dashboard/logout');
  const { status } = await api.request('GET', '/api/agents', { key });
  store.clock.advance(500);

  expect([viewsBefore, status]).toEqual([1, 401]);
  expect(await reader.isOver()).toBe(true);
  expect(store.liveFeed.size).toBe(0);
});

test('A live view ends with the life of its key', async () => {
  const { api, browser, store } = await openSignedIn();
  const reader = await watch(api, await browser.key());

  await store.clock.pass(15 * MINUTE_MS);

  expect(await reader.isOver()).toBe(true);
});

test('A change of password kills the keys of other sessions only', async () => {
  const { api, browser } = await openSignedIn();
  const other = new Browser(api);
  await other.logIn();
  const [own, foreign] = [await browser.key(), await other.key()];

  const body = { current: 'correct horse battery', next: 'another horse battery' };
  await browser.ask('POST', '/dashboard/password', { body });

  const statuses = [own, foreign].map(async (key) => {
    return (await api.request('GET', '/api/agents', { key })).status;
  });
  expect(await Promise.all(statuses)).toEqual([200, 401]);
});

test('A session has twenty keys at most; the oldest makes room', async () => {
  const { api, browser } = await openSignedIn();
  const first = await browser.key();
  const second = await browser.key();

  for (let made = 2; made < 21; made += 1) await browser.key();

  const statuses = [first, second].map(async (key) => {
    return (await api.request('GET', '/api/agents', { key })).status;
  });
  expect(await Promise.all(statuses)).toEqual([401, 200]);
});

test('A restart knows no key of the dashboard', async () => {
  const { browser, store, dashboard } = await openSignedIn();
  const key = await browser.key();

  expect(await dashboard.keys.findByHash(hashOfKey(key))).toBeDefined();
  expect(await openDashboard(store).keys.findByHash(hashOfKey(key))).toBeUndefined();
});
