/** The link that sets the operator's password: once, in time, and by one of two. */
import { expect, test } from 'vitest';
import {
  Browser,
  openDashboard,
  openDashboardWorld,
  PASSWORD,
} from '../support/dashboard/dashboard-world.ts';

test('POST /dashboard/setup sets the password and signs in', async () => {
  const { api, token } = await openDashboardWorld();
  const browser = new Browser(api);
  const before = await browser.json('GET', '/dashboard/state');

  const { status, body } = await browser.setUp(token);

  expect(before.body).toEqual({ isSetUp: false, asksName: false, version: '0.0.0' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ isSetUp: true, csrfToken: expect.stringMatching(/^[\w-]{43}$/) });
  expect(body.accounts.map(({ id }) => id)).toContain('acct_main');
  expect((await browser.json('GET', '/dashboard/state')).body.isSetUp).toBe(true);
  expect((await browser.ask('GET', '/dashboard/session')).status).toBe(200);
});

test.each([
  ['wrong', (token: string) => `${token.slice(0, -1)}_`, 0],
  ['empty', () => '', 0],
  ['half an hour old', (token: string) => token, 1_800_000],
])('POST /dashboard/setup refuses a token that is %s', async (_case, shownOf, ageMs) => {
  const { api, token, store } = await openDashboardWorld();
  store.clock.advance(ageMs);

  const { status, body } = await new Browser(api).setUp(shownOf(token));

  expect([status, body.error.code]).toEqual([401, 'UNAUTHORIZED']);
});

test('POST /dashboard/setup takes a token a moment before it is too old, and never again', async () => {
  const { api, token, store } = await openDashboardWorld();
  store.clock.advance(1_799_999);

  const first = await new Browser(api).setUp(token);
  const second = await new Browser(api).setUp(token, 'another password');

  expect([first.status, second.status]).toEqual([200, 401]);
  expect((await new Browser(api).logIn()).status).toBe(200);
});

test('POST /dashboard/setup lets one of two have it that come together', async () => {
  const { api, token } = await openDashboardWorld();
  const passwords = ['the first password', 'the second password'];

  const answers = await Promise.all(passwords.map((each) => new Browser(api).setUp(token, each)));

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const winner = passwords[answers[0]?.status === 200 ? 0 : 1];
  expect((await new Browser(api).logIn(winner)).status).toBe(200);
});

test.each([
  ['too short', 'eleven char'],
  ['too long', 'x'.repeat(201)],
])('POST /dashboard/setup refuses a password that is %s, and the link stays good', async (_case, password) => {
  const { api, token } = await openDashboardWorld();

  const refused = await new Browser(api).setUp(token, password);

  expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(refused.body.error.message).not.toContain(password);
  expect((await new Browser(api).setUp(token)).status).toBe(200);
});

test('Dashboard makes no link where a password is set, and a new one where the last was never used', async () => {
  const { api, token, store } = await openDashboardWorld();
  const restarted = openDashboard(store);
  const newToken = await restarted.issueSetupToken();

  await new Browser(api).setUp(token);

  expect(newToken).toMatch(/^[\w-]{43}$/);
  expect(newToken).not.toBe(token);
  expect(await openDashboard(store).issueSetupToken()).toBeUndefined();
});

test('POST /dashboard/login says where the password is to be set', async () => {
  const { api } = await openDashboardWorld();

  const { status, body } = await new Browser(api).logIn();

  expect([status, body.error.code]).toEqual([409, 'CONFLICT']);
  expect(body.error.message).toContain('link');
});

test('The password is kept as a hash only', async () => {
  const { api, token, store } = await openDashboardWorld();

  await new Browser(api).setUp(token);

  const [user] = await store.users.list();
  const record = user?.password;
  expect(record).toMatch(/^scrypt\$4\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  expect(record).not.toContain(PASSWORD);
});
