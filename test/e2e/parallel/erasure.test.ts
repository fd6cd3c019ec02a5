/** Erasure on the whole server: nothing of an erased call is left in the data folder, also where the server is killed meanwhile. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { foundIn } from '../../support/store/found-in.ts';

const [ERASED, KEPT] = ['+12025550199', '+12025550144'];

/** A look of the server at what is left, and the quiet that it waits for, several times over. */
const FINISHED = { timeout: 30_000, interval: 200 };

const dataDir = mkdtempSync(join(tmpdir(), 'offhook-erasure-'));
let server: TestServer | undefined;
let agentId: string;

afterAll(async () => {
  await server?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<SandboxClient> {
  server = await (await startServer({ dataDir })).ready();
  return new SandboxClient(server);
}

/** Calls to both numbers in turn, each with its mark in the metadata. @returns ids of those to erase, and of the others. */
async function talk(client: SandboxClient, mark: string) {
  const bodies = Array.from({ length: 12 }, (_, index) => ({
    agentId,
    to: index % 2 === 0 ? ERASED : KEPT,
    metadata: { mark: index % 2 === 0 ? mark : 'nothing' },
  }));
  const calls = await client.calls('outbound', bodies);
  for (const { id } of calls) await client.events(id, 'call.transcribed');
  const idsOf = (number: string) => calls.filter(({ to }) => to === number).map(({ id }) => id);
  return { erased: idsOf(ERASED), kept: idsOf(KEPT) };
}

const recordings = () => readdirSync(join(dataDir, 'recordings')).length;

test('Nothing of an erased call, or of an erased number, is left in the data folder', async () => {
  const client = await start();
  agentId = await client.createAgent();
  const { erased, kept } = await talk(client, 'the private mark');
  const before = await client.request('GET', '/api/analytics?period=today');
  expect(foundIn(dataDir, 'the private mark')).not.toEqual([]);

  const { status } = await client.request('DELETE', `/api/calls/${erased[0]}`);
  const gone = await client.request('GET', `/api/calls/${erased[0]}`);
  const afterOne = recordings();
  const asked = await client.request('POST', '/api/privacy/erase', { phoneNumber: ERASED });

  expect([status, gone.status, afterOne]).toEqual([204, 404, 11]);
  expect(asked).toMatchObject({ status: 202, body: { calls: 5, recordings: 5 } });
  await vi.waitFor(() => {
    expect(foundIn(dataDir, ERASED)).toEqual([]);
    expect(foundIn(dataDir, 'the private mark')).toEqual([]);
  }, FINISHED);
  expect(recordings()).toBe(6);
  const left = (await client.request('GET', '/api/calls?limit=100')).body.data;
  expect(left.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
  expect((await client.request('GET', '/api/analytics?period=today')).body).toEqual(before.body);
});

test('A server that is killed right after it was asked finishes at its next start', async () => {
  const client = new SandboxClient(server as TestServer);
  await talk(client, 'another mark');

  const asked = await client.request('POST', '/api/privacy/erase', { phoneNumber: ERASED });
  server?.kill('SIGKILL');
  await server?.exited;
  expect(asked.body).toMatchObject({ calls: 6 });
  await start();

  await vi.waitFor(() => {
    expect(foundIn(dataDir, ERASED)).toEqual([]);
    expect(foundIn(dataDir, 'another mark')).toEqual([]);
  }, FINISHED);
  expect(recordings()).toBe(12);
  expect(server?.output).not.toContain(ERASED);
});
