/** `admin user …` on a server's data folder, and what a running server makes of it. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SignedIn } from '../../support/dashboard/signed-in.ts';
import { adminIn } from '../../support/server/admin.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

let server: TestServer;
let operator: SignedIn;

beforeAll(async () => {
  server = await (await startServer()).ready();
  await vi.waitFor(() => expect(server.output).toContain('Offhook is ready'), 10_000);
  operator = await SignedIn.at(server);
});

afterAll(() => server?.stop());

async function admin(...words: string[]) {
  const { status, out, err } = await adminIn(server.dataDir, words);
  return { status, out, err };
}

async function logIn(name: string, password: string): Promise<number> {
  const response = await fetch(`${server.baseUrl}/dashboard/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, password }),
  });
  return response.status;
}

test('user add shows a password that signs in, and reset-password another', async () => {
  const added = JSON.parse((await admin('user', 'add', 'Grace', '--role', 'viewer', '--json')).out);
  const reset = JSON.parse((await admin('user', 'reset-password', 'grace', '--json')).out);

  expect(added).toMatchObject({ name: 'Grace', role: 'viewer', disabledAt: null });
  expect(await logIn('Grace', added.password)).toBe(401);
  expect(await logIn('Grace', reset.password)).toBe(200);
  expect((await admin('user', 'list')).out).toMatch(/usr_\w+ +Grace +viewer/);
});

test('The last admin stays, and the running server ends the sessions of one who goes', async () => {
  const last = await admin('user', 'role', 'admin', 'viewer');
  await admin('user', 'add', 'second', '--role', 'admin');
  const before = (await operator.post('/dashboard/key', live())).status;

  const disabled = await admin('user', 'disable', 'admin');

  expect([last.status, last.err]).toEqual([1, expect.stringContaining('last admin')]);
  expect([before, disabled.status]).toEqual([200, 0]);
  expect((await operator.post('/dashboard/key', live())).status).toBe(401);
  expect((await admin('user', 'remove', 'second')).status).toBe(1);
  expect((await admin('user', 'enable', 'admin')).status).toBe(0);
  expect((await admin('user', 'remove', 'second')).status).toBe(0);
});

test('Wrong words are refused, and a name that is taken', async () => {
  const wrong = await admin('user', 'add', 'x', '--role', 'owner');
  const taken = await admin('user', 'add', 'ADMIN', '--role', 'viewer');
  const unknown = await admin('user', 'disable', 'nemo');

  expect([wrong.status, taken.status, unknown.status]).toEqual([2, 1, 1]);
  expect(taken.err).toContain('the name is taken');
});

test('Changes of the command line are in the audit log, reads are not', async () => {
  await admin('user', 'list');
  await admin('user', 'reset-password', 'admin');

  const { body } = await server.api('GET', '/api/audit-log?limit=1');

  expect(body.data).toMatchObject([
    { actor: 'cli', action: 'admin user reset-password', address: null, status: null },
  ]);
});

test('operator reset is for the only user', async () => {
  await admin('user', 'add', 'third', '--role', 'viewer');

  const { status, err } = await admin('operator', 'reset');

  expect([status, err]).toEqual([1, expect.stringContaining('user reset-password')]);
});

function live() {
  return { accountId: operator.accountId, environment: 'live' };
}
