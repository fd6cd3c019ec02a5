/** Sessions: what each request must show, when they end, and what ends with them. */
import { expect, test } from 'vitest';
import { replacePassword } from '../../src/domain/account/user-changes.ts';
import {
  Browser,
  openDashboard,
  openSignedIn,
  PASSWORD,
} from '../support/dashboard/dashboard-world.ts';

const HOUR_MS = 3_600_000;
const NEXT = 'another horse battery';

test('GET /dashboard/session answers 401 without a cookie, and with a forged one', async () => {
  const { api } = await openSignedIn();
  const stranger = new Browser(api);
  const without = await stranger.json('GET', '/dashboard/session');
  stranger.cookie = `offhook_session=${'A'.repeat(43)}`;

  const withUnknown = await stranger.json('GET', '/dashboard/session');

  expect([without.status, without.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  expect(withUnknown.status).toBe(401);
});

test('A session ends two hours after its last use, and twelve after it began', async () => {
  const { api, browser, store } = await openSignedIn();
  const idle = new Browser(api);
  await idle.logIn();
  const status = async (each: Browser) => (await each.ask('GET', '/dashboard/session')).status;

  store.clock.advance(2 * HOUR_MS - 1);
  const stillThere = await status(browser);
  store.clock.advance(1);
  const idleTooLong = await status(idle);
  for (let hour = 2; hour < 11; hour += 1) {
    store.clock.advance(HOUR_MS);
    await status(browser);
  }
  store.clock.advance(HOUR_MS - 1);
  const atTheEnd = await status(browser);
  store.clock.advance(1);

  expect([stillThere, idleTooLong, atTheEnd]).toEqual([200, 401, 200]);
  expect(await status(browser)).toBe(401);
});

test.each([
  ['/dashboard/key', { accountId: 'acct_main', environment: 'live' }],
  ['/dashboard/password', { current: PASSWORD, next: NEXT }],
  ['/dashboard/logout', undefined],
])('POST %s demands the session and its token', async (path, body) => {
  const { api, browser } = await openSignedIn();
  const statusWith = async (each: Browser, csrfToken?: string | null) => {
    const given = csrfToken === undefined ? {} : { csrfToken };
    return (await each.ask('POST', path, { body, ...given })).status;
  };

  const refused = [
    await statusWith(new Browser(api)),
    await statusWith(browser, null),
    await statusWith(browser, ''),
    await statusWith(browser, `${browser.csrfToken?.slice(0, -1)}-`),
  ];

  expect(refused).toEqual([401, 403, 403, 403]);
  expect(await statusWith(browser)).toBeLessThan(300);
});

test.each([
  ['of another page', 'https://evil.example', 403],
  ['of a page that hides', 'null', 403],
  ['of another port', 'https://voice.example:8443', 403],
  ['of plain HTTP', 'http://voice.example', 403],
  ['that is no address', 'voice.example', 403],
  ['of PUBLIC_URL', 'https://voice.example', 200],
  ['of the very address that is asked', 'http://localhost', 200],
])('An Origin %s', async (_case, Origin, expected) => {
  const { browser } = await openSignedIn();
  const body = { accountId: 'acct_main', environment: 'live' };

  const asked = [
    await browser.ask('GET', '/dashboard/session', { headers: { Origin } }),
    await browser.ask('POST', '/dashboard/key', { body, headers: { Origin } }),
    await browser.logIn(PASSWORD, { headers: { Origin } }),
  ];

  expect(asked.map(({ status }) => status)).toEqual([expected, expected, expected]);
});

test('POST /dashboard/logout ends the session and takes the cookie back', async () => {
  const { browser } = await openSignedIn();
  const { cookie } = browser;

  const response = await browser.ask('POST', '/dashboard/logout');

  expect(response.status).toBe(204);
  expect(response.headers.get('Set-Cookie')).toMatch(
    /^offhook_session=; Max-Age=0; Path=\/dashboard;/,
  );
  browser.cookie = cookie;
  expect((await browser.ask('GET', '/dashboard/session')).status).toBe(401);
});

test('POST /dashboard/login ends the session that the browser had', async () => {
  const { browser } = await openSignedIn();
  const { cookie } = browser;

  await browser.logIn();

  const now = browser.cookie;
  browser.cookie = cookie;
  expect(now).not.toBe(cookie);
  expect((await browser.ask('GET', '/dashboard/session')).status).toBe(401);
});

test('POST /dashboard/password changes it and ends all other sessions', async () => {
  const { api, browser } = await openSignedIn();
  const other = new Browser(api);
  await other.logIn();
  const body = { current: PASSWORD, next: NEXT };

  const response = await browser.ask('POST', '/dashboard/password', { body });

  expect(response.status).toBe(204);
  expect((await browser.ask('GET', '/dashboard/session')).status).toBe(200);
  expect((await other.ask('GET', '/dashboard/session')).status).toBe(401);
  expect((await new Browser(api).logIn()).status).toBe(401);
  expect((await new Browser(api).logIn(NEXT)).status).toBe(200);
});

test('POST /dashboard/password demands the current one, and limits wrong guesses', async () => {
  const { api, browser } = await openSignedIn();
  const body = { current: 'wrong horse battery', next: NEXT };
  const statuses: number[] = [];

  for (let tried = 0; tried < 6; tried += 1) {
    statuses.push((await browser.ask('POST', '/dashboard/password', { body })).status);
  }

  expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
  expect((await new Browser(api).logIn(PASSWORD, { remoteAddress: '192.0.2.1' })).status).toBe(200);
});

test('A password that is forgotten from outside ends every session at once', async () => {
  const { browser, store } = await openSignedIn();
  const [user] = await store.users.list();

  await replacePassword(user?.id ?? '', null, store);

  expect((await browser.ask('GET', '/dashboard/session')).status).toBe(401);
  expect(await openDashboard(store).issueSetupToken()).toMatch(/^[\w-]{43}$/);
});

test('OperatorSessions keeps a hundred, and lets the one go that was used longest ago', async () => {
  const { dashboard } = await openSignedIn();
  const [user] = await dashboard.users.list();
  if (user === undefined) throw new Error('There is no user');
  const cookies: string[] = [];
  while (cookies.length < 100) cookies.push((await dashboard.sessions.open(user)).cookie);

  await dashboard.sessions.use(cookies[0] ?? '');
  await dashboard.sessions.open(user);

  expect(await dashboard.sessions.use(cookies[0] ?? '')).toBeDefined();
  expect(await dashboard.sessions.use(cookies[1] ?? '')).toBeUndefined();
  expect(await dashboard.sessions.use(cookies[2] ?? '')).toBeDefined();
});

test('A restart forgets sessions, not the password', async () => {
  const { browser, store } = await openSignedIn();
  const cookie = browser.cookie?.split('=')[1] ?? '';

  const restarted = openDashboard(store);

  expect(await restarted.sessions.use(cookie)).toBeUndefined();
  const [user] = await store.users.list();
  expect(await restarted.passwords.isRight(PASSWORD, user?.password ?? null)).toBe(true);
});

test('The OpenAPI document says nothing of the dashboard', async () => {
  const { api } = await openSignedIn();

  const { body } = await api.json('GET', '/api/openapi.json', { key: null });

  const { paths } = body as unknown as { paths: Record<string, unknown> };
  expect(Object.keys(paths)).toContain('/api/agents');
  expect(Object.keys(paths).filter((path) => !path.startsWith('/api/'))).not.toContain('/');
  expect(Object.keys(paths).filter((path) => path.startsWith('/dashboard'))).toEqual([]);
});
