/** Invites: one user each, in time, of the role they were made for. */
import { expect, test } from 'vitest';
import { Browser } from '../support/dashboard/dashboard-world.ts';
import { openUsersWorld, type UsersWorld } from '../support/dashboard/users-world.ts';

const HOUR_MS = 3_600_000;

const JOINING = { name: 'Grace Hopper', password: 'a horse of her own' };

async function invited(role = 'editor', by = 'admin') {
  const world = await openUsersWorld();
  const admin = await world.signIn(by);
  const { body } = await admin.json('POST', '/dashboard/invites', { body: { role } });
  const token = /^https:\/\/voice\.example\/#\/join\?token=([\w-]{43})$/.exec(body.url)?.[1] ?? '';
  return { ...world, admin, token, inviteId: body.id };
}

function join({ api }: Pick<UsersWorld, 'api'>, token: string, given: object = {}) {
  return new Browser(api).json('POST', '/dashboard/join', {
    body: { token, ...JOINING, ...given },
  });
}

test('POST /dashboard/join makes a user of the role of the invite, and signs in', async () => {
  const world = await invited('editor');

  const { status, body } = await join(world, world.token);

  expect([status, body.user]).toEqual([
    200,
    { id: expect.stringMatching(/^usr_/), name: 'Grace Hopper', role: 'editor' },
  ]);
  expect(body.csrfToken).toMatch(/^[\w-]{43}$/);
});

test('An invite makes one user, of two who come together too', async () => {
  const world = await invited();

  const answers = await Promise.all([
    join(world, world.token),
    join(world, world.token, { name: 'another' }),
  ]);
  const late = await join(world, world.token, { name: 'late' });

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect([late.status, late.body.error.message]).toEqual([
    409,
    'Cannot use the invite: the link has been used; ask an admin for a new one',
  ]);
  expect(await world.store.users.list()).toHaveLength(4);
});

test('An invite is good for 72 hours', async () => {
  const [early, late] = [await invited(), await invited()];
  early.store.clock.advance(72 * HOUR_MS - 1);
  late.store.clock.advance(72 * HOUR_MS);

  const [inTime, expired] = [await join(early, early.token), await join(late, late.token)];

  expect([inTime.status, expired.status]).toEqual([200, 409]);
  expect(expired.body.error.message).toContain('has expired');
});

test('A revoked invite says so', async () => {
  const world = await invited();
  await world.admin.ask('DELETE', `/dashboard/invites/${world.inviteId}`);

  const { status, body } = await join(world, world.token);

  expect([status, body.error.message]).toEqual([409, expect.stringContaining('was revoked')]);
});

test.each([
  ['demoted', { role: 'viewer' }],
  ['disabled', { isDisabled: true }],
])('An admin who is %s does not come back by an invite of their own', async (_case, change) => {
  const world = await invited('admin');
  await world.add('second', 'admin');
  const second = await world.signIn('second');

  await second.ask('PATCH', '/dashboard/users/usr_admin', { body: change });

  expect((await join(world, world.token)).status).toBe(409);
});

test.each([
  ['a name that is taken', { name: 'ADMIN' }, 409],
  ['a name of other characters', { name: '<b>' }, 400],
  ['a short password', { password: 'short' }, 400],
  ['a role', { role: 'admin' }, 400],
])('The invite stays good after %s', async (_case, given, expected) => {
  const world = await invited();

  const refused = await join(world, world.token, given);

  expect(refused.status).toBe(expected);
  expect((await join(world, world.token)).status).toBe(200);
});

test('Guessed links are held back as guessed passwords are', async () => {
  const world = await invited();
  const statuses: number[] = [];

  for (let tried = 0; tried < 6; tried += 1) {
    statuses.push((await join(world, `${'A'.repeat(42)}${tried}`)).status);
  }

  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
});

test('Twenty invites are open at a time, and a revoked one makes room', async () => {
  const world = await invited();
  const make = async () =>
    (await world.admin.ask('POST', '/dashboard/invites', { body: { role: 'viewer' } })).status;
  for (let made = 1; made < 20; made += 1) await make();

  const full = await make();
  await world.admin.ask('DELETE', `/dashboard/invites/${world.inviteId}`);

  expect([full, await make()]).toEqual([409, 201]);
});
