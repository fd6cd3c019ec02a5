/** Every route as every role and as no one, against the table that docs/security.md shows. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROUTES_OF_ROLE, roleNeededFor } from '../../src/domain/account/role-table.ts';
import { mayActAs, ROLES, type Role } from '../../src/domain/account/user.ts';
import { keyOf } from '../support/api/api-world.ts';
import { ask, OPERATIONS } from '../support/api/ask-operations.ts';
import { textOf } from '../support/api/event-reader.ts';
import { Browser } from '../support/dashboard/dashboard-world.ts';
import { openUsersWorld, type UsersWorld } from '../support/dashboard/users-world.ts';

/** The roles as docs/security.md has them, by route. */
function documentedRoles(): ReadonlyMap<string, string> {
  const section = readFileSync('docs/security.md', 'utf8')
    .split('\n## Roles')[1]
    ?.split('\n## ')[0];
  const rows = [...(section ?? '').matchAll(/^\| `(\/[^`]+)` \| (.+) \|$/gm)];
  return new Map(
    rows.flatMap(([, path = '', cells = '']) =>
      cells.split(', ').map((cell) => {
        const [method = '', role = ''] = cell.split(' ');
        return [`${method} ${path}`, role] as const;
      }),
    ),
  );
}

const DOCUMENTED = documentedRoles();

/** The dashboard's own routes, as the application has them. */
function dashboardRoutes({ api }: UsersWorld): readonly { method: string; path: string }[] {
  const own = api.app.routes.filter(
    ({ method, path }) => method !== 'ALL' && path.startsWith('/dashboard/'),
  );
  const unique = new Set(own.map(({ method, path }) => `${method} ${path}`));
  return [...unique].map((route) => {
    const [method = '', path = ''] = route.split(' ');
    return { method, path: path.replace(/:(\w+)/g, '{$1}') };
  });
}

function isAllowed(route: string, role: Role): boolean {
  const needed = DOCUMENTED.get(route);
  return needed === 'anyone' || (ROLES as readonly unknown[]).includes(needed)
    ? needed === 'anyone' || mayActAs(role, needed as Role)
    : false;
}

test('docs/security.md has the table that decides', () => {
  const deciding = Object.entries(ROUTES_OF_ROLE).flatMap(([role, routes]) =>
    routes.map((route) => `${route}: ${role}`),
  );

  expect([...DOCUMENTED].map(([route, role]) => `${route}: ${role}`).sort()).toEqual(
    deciding.sort(),
  );
});

test('Every route of the server is in the table, and the table has no other', async () => {
  const world = await openUsersWorld();
  const served = [...OPERATIONS, ...dashboardRoutes(world)].map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  );

  const known = [...DOCUMENTED.keys()].filter((route) => !route.endsWith('/openapi.json'));

  expect(served.sort()).toEqual(known.sort());
});

test('A route that the table does not have is for admins', () => {
  expect(roleNeededFor('GET /api/new')).toBe('admin');
  expect(roleNeededFor('get /api/agents')).toBe('admin');
});

test.each(
  ROLES,
)('Every operation of the API lets the role %s do what is documented, and no more', async (role) => {
  const world = await openUsersWorld();
  const browser = await world.signIn(role);
  const keys = {
    live: await browser.key(),
    test: await browser.key({ environment: 'test' }),
  };
  const faults: string[] = [];
  for (const operation of OPERATIONS) {
    const route = `${operation.method.toUpperCase()} ${operation.path}`;
    const key = keyOf(operation).startsWith('svc_live_') ? keys.live : keys.test;
    const response = await ask(world, operation, { key });
    const isRefused = (await textOf(response)).includes('it needs the role');
    if (isRefused === isAllowed(route, role)) faults.push(`${route} ${response.status}`);
    if (isRefused && response.status !== 403) faults.push(`${route} ${response.status}`);
  }

  expect(OPERATIONS.length).toBeGreaterThan(50);
  expect(faults).toEqual([]);
});

test.each(
  ROLES,
)('Every route of the dashboard lets the role %s do what is documented, and no more', async (role) => {
  const world = await openUsersWorld();
  const faults: string[] = [];
  for (const { method, path } of dashboardRoutes(world)) {
    const browser = await world.signIn(role);
    const response = await browser.ask(method, path.replace(/\{\w+\}/, 'x_none'), {
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
    });
    const isRefused = (await response.text()).includes('it needs the role');
    if (isRefused === isAllowed(`${method} ${path}`, role)) {
      faults.push(`${method} ${path} ${response.status}`);
    }
  }

  expect(faults).toEqual([]);
});

test('Every route of the dashboard that is not for anyone answers 401 without a session', async () => {
  const world = await openUsersWorld();
  const routes = dashboardRoutes(world).filter(
    ({ method, path }) => DOCUMENTED.get(`${method} ${path}`) !== 'anyone',
  );

  const statuses = await Promise.all(
    routes.map(async ({ method, path }) => {
      const stranger = new Browser(world.api);
      const asked = { csrfToken: 'A'.repeat(43), ...(method === 'GET' ? {} : { body: {} }) };
      return (await stranger.ask(method, path.replace(/\{\w+\}/, 'x_none'), asked)).status;
    }),
  );

  expect(new Set(statuses)).toEqual(new Set([401]));
});

test.each([
  ['HEAD', '/api/account/signing-secret'],
  ['GET', '/api/account/signing%2Dsecret'],
  ['GET', '/api/account/signing-secret/'],
  ['GET', '//api/account/signing-secret'],
  ['GET', '/api/./account/signing-secret'],
  ['OPTIONS', '/api/account/signing-secret'],
])('No other way of writing a request gets past the role: %s %s', async (method, path) => {
  const world = await openUsersWorld();
  const browser = await world.signIn('viewer');

  const response = await world.api.request(method, path, { key: await browser.key() });

  expect([403, 404]).toContain(response.status);
  expect(await response.text()).not.toContain('whsec_');
});

test('No request of a viewer or editor changes a role, and none of an admin their own', async () => {
  const world = await openUsersWorld();
  const rolesBefore = (await world.store.users.list()).map(({ name, role }) => `${name} ${role}`);
  const statuses: number[] = [];
  for (const role of ROLES) {
    const browser = await world.signIn(role);
    const own = `/dashboard/users/usr_${role}`;
    const tries: [string, string, unknown][] = [
      ['PATCH', own, { role: 'admin' }],
      ['PATCH', own, { role: 'viewer' }],
      ['PATCH', own, { isDisabled: true }],
      ['DELETE', own, undefined],
      [
        'POST',
        '/dashboard/login',
        { name: role, password: 'correct horse battery', role: 'admin' },
      ],
      ['POST', '/dashboard/key', { accountId: 'acct_main', environment: 'live', role: 'admin' }],
      ['POST', '/dashboard/password', { current: 'a', next: 'b'.repeat(12), role: 'admin' }],
    ];
    for (const [method, path, body] of tries) {
      const asked = body === undefined ? {} : { body };
      statuses.push((await browser.ask(method, path, asked)).status);
    }
  }

  const rolesAfter = (await world.store.users.list()).map(({ name, role }) => `${name} ${role}`);
  expect(rolesAfter).toEqual(rolesBefore);
  expect(statuses).toEqual(ROLES.flatMap(() => [403, 403, 403, 403, 400, 400, 400]));
});

test('The secret address of an SMS gateway is for admins', async () => {
  const world = await openUsersWorld();
  const seenBy = async (role: Role) => {
    const key = await (await world.signIn(role)).key();
    const response = await world.api.request('GET', '/api/sms-gateways', { key });
    const { data } = (await response.json()) as { data: { callbackUrl: string | null }[] };
    return data.map(({ callbackUrl }) => typeof callbackUrl);
  };

  expect(await seenBy('admin')).toContain('string');
  expect(await seenBy('editor')).not.toContain('string');
  expect(await seenBy('viewer')).not.toContain('string');
});
