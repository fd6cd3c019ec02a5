/** What customers see while the disk fails under a running server, and that it needs no restart afterwards. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { canMount, fill, mounted, skipWithoutMount } from '../../support/store/small-disk.ts';

const AGENT = { name: 'Reception', greeting: 'Hello', systemPrompt: 'Be brief.' };

/** A server that takes calls whatever room its disk has, unless told otherwise. */
async function serverOn(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const server = await startServer({
    dataDir,
    environment: { DISK_FREE_MIN_MB: '0', ...environment },
  });
  onTestFinished(() => server.stop());
  return server.ready();
}

const health = async (server: TestServer, path: string) =>
  (await fetch(`${server.baseUrl}${path}`)).status;

/** What `/readyz` says once it has noticed, which it must within 2 s. */
async function notReady(server: TestServer): Promise<number> {
  const deadlineMs = performance.now() + 2000;
  for (;;) {
    const status = await health(server, '/readyz');
    if (status !== 200 || performance.now() > deadlineMs) return status;
    await setTimeout(100);
  }
}

test.runIf(canMount('tmpfs'))(
  'a full disk: 503 on every route, nothing half-written, and all well again when there is room',
  async () => {
    const folder = mounted({ type: 'tmpfs', sizeMiB: 24 });
    const server = await serverOn(folder);
    await server.api('POST', '/api/agents', AGENT);
    fill(folder);

    let made = 1;
    let during = await server.api('POST', '/api/agents', AGENT);
    let readiness = 200;
    // The log has room again when it was brought in meanwhile: the disk is full when neither an agent nor a probe fits.
    for (let tries = 0; readiness === 200 && tries < 500; tries += 1) {
      if (during.status === 503) readiness = await notReady(server);
      else made += 1;
      if (readiness === 200) during = await server.api('POST', '/api/agents', AGENT);
    }
    const states = [readiness, await health(server, '/healthz')];
    rmSync(join(folder, 'ballast'));
    const after = await server.api('POST', '/api/agents', AGENT);
    const list = await server.api('GET', '/api/agents');

    expect(during).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
    expect(states).toEqual([503, 200]);
    expect(after.status).toBe(201);
    expect(list.body.total).toBe(made + 1);
  },
);

test('a locked database: 503, nothing half-written, and all well again when it is let go', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-data-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await serverOn(dataDir);
  const other = new Sqlite(join(dataDir, 'offhook.db'));
  other.exec('begin immediate');

  const during = await server.api('POST', '/api/agents', AGENT);
  other.close();
  const after = await server.api('POST', '/api/agents', AGENT);
  const list = await server.api('GET', '/api/agents');

  expect(during).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
  expect(after.status).toBe(201);
  expect(list.body.total).toBe(1);
});

test.runIf(canMount('ext4'))(
  'a disk that turns read-only: 503, the process lives, and what was acknowledged is still there',
  async () => {
    const folder = mounted({ type: 'ext4', sizeMiB: 24 });
    const server = await serverOn(folder);
    const before = await server.api('POST', '/api/agents', AGENT);
    const device = execFileSync('findmnt', ['-no', 'SOURCE', folder]).toString().trim();
    // The kernel itself turns the file system read-only, as it does when a disk begins to fail.
    writeFileSync(`/sys/fs/ext4/${device.replace('/dev/', '')}/trigger_fs_error`, '1');

    const during = await server.api('POST', '/api/agents', AGENT);
    const states = [await notReady(server), await health(server, '/healthz')];
    const kept = new Sqlite(join(folder, 'offhook.db'), { readonly: true });
    const agents = kept.prepare('select count(*) from agents').pluck().get();
    kept.close();

    expect(before.status).toBe(201);
    expect(during).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
    expect(states).toEqual([503, 200]);
    expect(agents).toBe(1);
  },
);

async function ring(phone: Phone, server: TestServer) {
  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  return { call, id: await server.callInProgress() };
}

/** What `/readyz` says of the disk. */
async function diskCheck(server: TestServer) {
  const response = await fetch(`${server.baseUrl}/readyz`);
  const { checks } = (await response.json()) as {
    readonly checks: readonly { readonly name: string; readonly isOk: boolean }[];
  };
  const check = checks.find(({ name }) => name === 'disk space');
  return { status: response.status, isOk: check?.isOk };
}

test('a disk that runs full under calls: recordings are cut short or do not begin, and all else goes on', async (context) => {
  skipWithoutMount(context, 'tmpfs');
  const folder = mounted({ type: 'tmpfs', sizeMiB: 8 });
  const database = mkdtempSync(join(tmpdir(), 'offhook-database-'));
  onTestFinished(() => rmSync(database, { recursive: true, force: true }));
  const DATABASE_URL = join(database, 'offhook.db');
  const server = await serverOn(folder, { DATABASE_URL, DISK_FREE_MIN_MB: '1' });
  await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const detail = async (id: string) => (await server.api('GET', `/api/calls/${id}`)).body;
  const failures = async (id: string) => {
    const { body } = await server.api('GET', `/api/calls/${id}/events`);
    const entries = body.data as readonly { readonly kind: string; readonly details: object }[];
    return entries.flatMap(({ kind, details }) => (kind === 'recording_failed' ? [details] : []));
  };

  const before = await diskCheck(server);
  const cut = await ring(phone, server);
  await setTimeout(2500);
  fill(folder);
  await expect.poll(() => diskCheck(server), { timeout: 10_000 }).toMatchObject({ isOk: false });
  const unrecorded = await ring(phone, server);
  const heardAt = cut.call.line.heard.length;
  await setTimeout(1500);
  const isHeard = cut.call.line.heard.slice(heardAt).some(({ isVoiced }) => isVoiced);
  const full = await diskCheck(server);
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  const made = await server.api('POST', '/api/agents', AGENT);
  await unrecorded.call.hangUp();
  await cut.call.hangUp();
  await server.endedCalls();
  const sound = await fetch(String((await detail(cut.id)).recordingUrl));
  const bytes = Buffer.from(await sound.arrayBuffer());

  expect([before, full]).toEqual([
    { status: 200, isOk: true },
    { status: 503, isOk: false },
  ]);
  expect([isHeard, made.status]).toEqual([true, 201]);
  expect(metrics).toMatch(/^offhook_disk_free_bytes 0$/m);
  expect(await detail(cut.id)).toMatchObject({ status: 'completed', recordingTruncated: true });
  expect(await failures(cut.id)).toMatchObject([{ recordingTruncated: true }]);
  expect(bytes.length).toBe(44 + bytes.readUInt32LE(40));
  expect(bytes.length).toBeGreaterThan(44 + 32_000);
  expect(await detail(unrecorded.id)).toMatchObject({
    status: 'completed',
    recordingUrl: null,
    recordingTruncated: false,
  });
  expect(await failures(unrecorded.id)).toMatchObject([
    { reason: expect.stringContaining('less than DISK_FREE_MIN_MB (1)') },
  ]);
  expect(readdirSync(join(folder, 'recordings'))).toEqual([`${cut.id}.wav`]);
  expect(statSync(join(folder, 'recordings', `${cut.id}.wav`)).mode & 0o777).toBe(0o600);

  const last = await ring(phone, server);
  server.kill('SIGTERM');
  await setTimeout(500);
  await last.call.hangUp();

  expect(await server.exited).toBe(0);
});
