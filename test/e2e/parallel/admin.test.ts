import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { type AdminEnded, AdminFolders, adminIn, adminJson } from '../../support/server/admin.ts';
import { LIVE_KEY, startServer, type TestServer } from '../../support/server/server.ts';

const folders = new AdminFolders();

let dataDir: string;
let accountId: string;
let server: TestServer;

beforeAll(async () => {
  dataDir = folders.make();
  server = await (await startServer({ dataDir })).ready();
  accountId = String((await json('account', 'show')).id);
});

afterAll(async () => {
  await server.stop();
  folders.remove();
});

function admin(...words: string[]): Promise<AdminEnded> {
  return adminIn(dataDir, words);
}

function json(...words: string[]): Promise<Record<string, unknown>> {
  return adminJson(dataDir, words);
}

/** How a key is answered: 200 while it works. */
async function statusWith(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${server.baseUrl}/api/agents`, { headers })).status;
}

test('account: lists, makes, changes and shows, while the server runs', async () => {
  const made = await json(
    'account',
    'create',
    '--name',
    'Acme',
    '--plan',
    'starter',
    '--minutes',
    '50',
  );
  const id = String(made.id);

  const { out: list } = await admin('account', 'list');
  const set = [
    '--plan',
    'enterprise',
    '--minutes',
    '9',
    '--countries',
    'it,DE',
    '--name',
    'Acme 2',
  ];
  await json('account', 'set', id, ...set);
  const changed = await json('account', 'show', id);
  const back = await json('account', 'set', id, '--countries', 'default');
  const which = await admin('account', 'show');

  expect(made).toMatchObject({ name: 'Acme', plan: 'starter', minutesIncluded: 50 });
  expect(list).toMatch(new RegExp(`${id}\\s+Acme\\s+starter\\s+50`));
  expect(changed).toMatchObject({
    name: 'Acme 2',
    plan: 'enterprise',
    minutesIncluded: 9,
    allowedCountries: ['IT', 'DE'],
  });
  expect(back).toMatchObject({ allowedCountries: null });
  expect(which).toMatchObject({ status: 1, out: '' });
  expect(which.err).toContain(`${id}  Acme 2`);
});

test('key: makes one that works at once, lists it without its text, and revokes it', async () => {
  const owner = ['--account', accountId];
  const made = await json('key', 'create', ...owner, '--environment', 'live', '--name', 'CI');
  const key = String(made.key);

  const before = await statusWith(key);
  const list = await admin('key', 'list', ...owner, '--json');
  const revoked = await admin('key', 'revoke', String(made.id));
  const again = await admin('key', 'revoke', String(made.id));
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const after = await statusWith(key);

  expect(key).toMatch(/^svc_live_[0-9A-Za-z]{32}$/);
  expect([before, after]).toEqual([200, 401]);
  expect(list.out).toContain(String(made.id));
  expect(list.out).not.toContain(key);
  expect(revoked).toMatchObject({ status: 0 });
  expect(again.out).toContain('was revoked before');
});

test('key create takes scopes, and refuses one that does not exist', async () => {
  const create = ['key', 'create', '--account', accountId, '--environment', 'test', '--name', 'n'];

  const made = await json(...create, '--scopes', 'calls:read,agents:read');
  const refused = await admin(...create, '--scopes', 'calls:steal');

  expect(made).toMatchObject({ scopes: ['calls:read', 'agents:read'], environment: 'test' });
  expect(refused.status).toBe(2);
  expect(refused.err).toContain('"calls:steal" is no scope');
});

test('secret: is shown only when asked, is prepared, activated and dropped', async () => {
  const which = ['--account', accountId, '--environment', 'live'];

  const old = await json('secret', 'show', ...which, '--show');
  const early = await admin('secret', 'activate', ...which);
  const masked = await json('secret', 'prepare', ...which);
  const prepared = await json('secret', 'show', ...which, '--show');
  const activated = await json('secret', 'activate', ...which, '--show');
  const dropped = await json('secret', 'drop-previous', ...which, '--show');

  expect(old).toMatchObject({ preparedSecret: null, previousSecret: null });
  expect(old.signingSecret).toMatch(/^whsec_[\w+/=]{32}$/);
  expect(early.err).toContain('Cannot activate a signing secret: none is prepared');
  expect(masked.signingSecret).toMatch(/^whsec_….{4}$/);
  expect(masked.preparedSecret).toMatch(/^whsec_….{4}$/);
  expect(prepared.signingSecret).toBe(old.signingSecret);
  expect(activated).toMatchObject({
    signingSecret: prepared.preparedSecret,
    preparedSecret: null,
    previousSecret: old.signingSecret,
  });
  expect(dropped).toMatchObject({ previousSecret: null, previousValidUntil: null });
});

test('backup of a server that is being written to, restored elsewhere, gives a server with all of it', async () => {
  const agentId = await server.createAgent();
  await ringOnce();
  const folder = join(folders.make(), 'backup');
  let isDone = false;
  let written = 0;
  const writing = (async () => {
    for (; !isDone; written += 1) await server.createAgent({ phoneNumber: undefined });
  })();

  const saved = await json('backup', folder);
  isDone = true;
  await writing;
  const newData = folders.make();
  const restored = await adminIn(newData, ['restore', folder, '--json']);
  const next = await (await startServer({ dataDir: newData })).ready();
  const agent = await next.api('GET', `/api/agents/${agentId}`);
  const [call] = await next.endedCalls();
  const detail = await next.api('GET', `/api/calls/${call?.id}`);
  const link = String(detail.body.recordingUrl).replace(/^http:\/\/[^/]+/, next.baseUrl);
  const recording = await fetch(link);
  await next.stop();

  expect(written).toBeGreaterThan(0);
  expect(saved).toMatchObject({ recordings: { files: 1, missing: 0 } });
  expect(JSON.parse(restored.out)).toMatchObject({ keptAs: null, manifest: { format: 1 } });
  expect(agent).toMatchObject({ status: 200, body: { phoneNumber: '+12025550123' } });
  expect(call).toMatchObject({ agentId, hasRecording: true });
  expect(recording.status).toBe(200);
});

test('restore refuses while the server runs, and says what to do', async () => {
  const folder = join(folders.make(), 'backup');
  const saved = await admin('backup', folder, '--recordings', 'none');

  const refused = await admin('restore', folder, '--force');

  expect(saved.out).toContain('Recordings are not part of it.');
  expect(refused.status).toBe(1);
  expect(refused.err).toContain('stop the server first');
  expect(await statusWith(LIVE_KEY)).toBe(200);
});

test('restore does not replace a database unless forced, and keeps the one from before', async () => {
  const folder = join(folders.make(), 'backup');
  await admin('backup', folder);
  const other = folders.make();
  await adminIn(other, ['restore', folder]);

  const refused = await adminIn(other, ['restore', folder]);
  const forced = await adminIn(other, ['restore', folder, '--force']);

  expect(refused.status).toBe(1);
  expect(refused.err).toContain('--force');
  expect(forced.status).toBe(0);
  expect(existsSync(join(other, 'offhook.db.before-restore'))).toBe(true);
});

test('a second server on the same database does not start', async () => {
  const second = await startServer({ dataDir });

  expect(await second.exited).toBe(1);
  expect(second.output).toContain('another Offhook process works on it');
});

test('migrate --dry-run works on a copy while the server runs, and migrate requires it stopped', async () => {
  const dry = await json('migrate', '--dry-run');
  const real = await admin('migrate');

  expect(dry).toEqual({ migrations: [] });
  expect(real.status).toBe(1);
  expect(real.err).toContain('stop the server first');
});

/** A short call, and its end. */
async function ringOnce(): Promise<void> {
  const phone = new Phone();
  await phone.start();
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await call.hangUp();
  await server.endedCalls();
  await phone.stop();
}
