/** Users of the dashboard: signing in by name, what ends their sessions, and the admin who must remain. */
import { expect, test } from 'vitest';
import { Browser, openSignedIn, PASSWORD } from '../support/dashboard/dashboard-world.ts';
import { openUsersWorld, type UsersWorld } from '../support/dashboard/users-world.ts';

const status = async (browser: Browser) => (await browser.ask('GET', '/dashboard/session')).status;

function logIn({ api }: Pick<UsersWorld, 'api'>, body: object) {
  return new Browser(api).json('POST', '/dashboard/login', { body });
}

async function roles({ store }: UsersWorld): Promise<readonly string[]> {
  return (await store.users.list()).map(({ name, role }) => `${name}: ${role}`);
}

test('The only user signs in without a name, or with it in any case', async () => {
  const world = await openSignedIn();

  const { body: state } = await world.browser.json('GET', '/dashboard/state');
  const without = await logIn(world, { password: PASSWORD });
  const named = await logIn(world, { name: ' Admin', password: PASSWORD });
  const other = await logIn(world, { name: 'eve', password: PASSWORD });

  expect(state.asksName).toBe(false);
  expect([without.status, named.status, other.status]).toEqual([200, 200, 401]);
  expect(without.body.user).toMatchObject({ name: 'admin', role: 'admin' });
});

test('Among several users the name decides, and the answer does not tell which half was wrong', async () => {
  const world = await openUsersWorld();

  const right = await logIn(world, { name: 'VIEWER', password: PASSWORD });
  const wrong = [
    await logIn(world, { password: PASSWORD }),
    await logIn(world, { name: 'nemo', password: PASSWORD }),
    await logIn(world, { name: 'viewer', password: 'wrong horse battery' }),
  ];

  expect(right.body.user).toEqual({ id: 'usr_viewer', name: 'viewer', role: 'viewer' });
  expect(new Set(wrong.map(({ body }) => body.error.message))).toEqual(
    new Set(['Cannot sign in: the name or the password is wrong']),
  );
  expect((await world.store.users.find('usr_viewer'))?.lastSignInAt).toEqual(
    world.store.clock.now(),
  );
  expect((await world.store.users.find('usr_editor'))?.lastSignInAt).toBeNull();
});

test.each([
  ['a role', { role: 'viewer' }],
  ['no admission', { isDisabled: true }],
  ['removal', undefined],
])('%s ends the sessions and keys of the user at once, and those of no other', async (_case, change) => {
  const world = await openUsersWorld();
  const [admin, editor, viewer] = [
    await world.signIn('admin'),
    await world.signIn('editor'),
    await world.signIn('viewer'),
  ];
  const key = await editor.key();
  const asked =
    change === undefined ? (['DELETE', {}] as const) : (['PATCH', { body: change }] as const);

  const changed = await admin.ask(asked[0], '/dashboard/users/usr_editor', asked[1]);

  expect(changed.ok).toBe(true);
  expect(await status(editor)).toBe(401);
  expect((await world.api.request('GET', '/api/agents', { key })).status).toBe(401);
  expect([await status(viewer), await status(admin)]).toEqual([200, 200]);
});

test('A role that is taken and given back ends the sessions of before too', async () => {
  const world = await openUsersWorld();
  const [admin, editor] = [await world.signIn('admin'), await world.signIn('editor')];

  for (const role of ['viewer', 'editor']) {
    await admin.ask('PATCH', '/dashboard/users/usr_editor', { body: { role } });
  }

  expect(await status(editor)).toBe(401);
});

test('A renamed user signs in by the new name, keeps the session, and takes no name of another', async () => {
  const world = await openUsersWorld();
  const [admin, editor] = [await world.signIn('admin'), await world.signIn('editor')];
  const rename = (user: string, name: string) =>
    admin.json('PATCH', `/dashboard/users/${user}`, { body: { name } });

  const { body } = await rename('usr_editor', ' Grace ');
  const taken = await rename('usr_viewer', 'GRACE');
  const own = await rename('usr_admin', 'Root');

  expect(body).toMatchObject({ id: 'usr_editor', name: 'Grace', role: 'editor' });
  expect([taken.status, own.status]).toEqual([409, 403]);
  expect(await status(editor)).toBe(200);
  expect((await logIn(world, { name: 'grace', password: PASSWORD })).status).toBe(200);
  expect((await logIn(world, { name: 'editor', password: PASSWORD })).status).toBe(401);
});

test('A disabled user is told so with the right password only, and signs in again when enabled', async () => {
  const world = await openUsersWorld();
  const admin = await world.signIn('admin');
  const set = (isDisabled: boolean) =>
    admin.ask('PATCH', '/dashboard/users/usr_viewer', { body: { isDisabled } });
  await set(true);

  const right = await logIn(world, { name: 'viewer', password: PASSWORD });
  const wrong = await logIn(world, { name: 'viewer', password: 'wrong horse battery' });
  await set(false);

  expect([right.status, right.body.error.message]).toEqual([
    403,
    expect.stringContaining('disabled'),
  ]);
  expect(wrong.status).toBe(401);
  expect((await logIn(world, { name: 'viewer', password: PASSWORD })).status).toBe(200);
});

test("A user's new password ends their other sessions, and no other user's", async () => {
  const world = await openUsersWorld();
  const [own, other, admin] = [
    await world.signIn('viewer'),
    await world.signIn('viewer'),
    await world.signIn('admin'),
  ];

  const body = { current: PASSWORD, next: 'another horse battery' };
  const changed = await own.ask('POST', '/dashboard/password', { body });

  expect(changed.status).toBe(204);
  expect([await status(own), await status(other), await status(admin)]).toEqual([200, 401, 200]);
});

test('Of two admins who demote each other at the same time one is refused', async () => {
  const world = await openUsersWorld();
  await world.add('second', 'admin');
  const [first, second] = [await world.signIn('admin'), await world.signIn('second')];
  const body = { role: 'viewer' };

  const answers = await Promise.all([
    first.ask('PATCH', '/dashboard/users/usr_second', { body }),
    second.ask('PATCH', '/dashboard/users/usr_admin', { body }),
  ]);

  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect((await roles(world)).filter((user) => user.endsWith(': admin'))).toHaveLength(1);
});

test('A user who is unknown, and a body that says nothing, change nothing', async () => {
  const world = await openUsersWorld();
  const admin = await world.signIn('admin');
  const before = await roles(world);

  const unknown = await admin.ask('PATCH', '/dashboard/users/usr_none', {
    body: { role: 'admin' },
  });
  const empty = await admin.ask('PATCH', '/dashboard/users/usr_viewer', { body: {} });
  const owner = await admin.ask('PATCH', '/dashboard/users/usr_viewer', {
    body: { role: 'owner' },
  });

  expect([unknown.status, empty.status, owner.status]).toEqual([404, 400, 400]);
  expect(await roles(world)).toEqual(before);
});

test('GET /dashboard/users shows users and open invites, and neither password nor secret', async () => {
  const world = await openUsersWorld();
  const admin = await world.signIn('admin');
  const made = await admin.json('POST', '/dashboard/invites', { body: { role: 'editor' } });

  const response = await admin.ask('GET', '/dashboard/users');

  const text = await response.text();
  expect(text).not.toContain('scrypt');
  expect(text).not.toContain(made.body.url.split('token=')[1] ?? 'token');
  expect(JSON.parse(text)).toMatchObject({
    users: [{ name: 'admin' }, { name: 'editor' }, { name: 'viewer' }],
    invites: [{ id: made.body.id, role: 'editor', createdBy: 'usr_admin' }],
  });
});

test("A user's own sign-in does not forgive guesses at another's password", async () => {
  const world = await openUsersWorld();
  const statuses: number[] = [];

  for (let tried = 0; tried < 6; tried += 1) {
    statuses.push((await logIn(world, { name: 'admin', password: 'wrong horse' })).status);
    await logIn(world, { name: 'viewer', password: PASSWORD });
  }

  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
});

test('Guesses at names that do not exist are held back alike, so that they tell nothing', async () => {
  const world = await openUsersWorld();
  const guess = async (name: string) => {
    const statuses: number[] = [];
    for (let tried = 0; tried < 6; tried += 1) {
      statuses.push((await logIn(world, { name, password: 'wrong horse' })).status);
    }
    return statuses;
  };

  expect(await guess('nemo')).toEqual(await guess('editor'));
});

test('A user who signs in again and again does not end the sessions of others', async () => {
  const world = await openUsersWorld();
  const admin = await world.signIn('admin');
  const viewer = await world.store.users.find('usr_viewer');
  if (viewer === undefined) throw new Error('There is no viewer');

  for (let opened = 0; opened < 120; opened += 1) await world.dashboard.sessions.open(viewer);

  expect(await status(admin)).toBe(200);
});
