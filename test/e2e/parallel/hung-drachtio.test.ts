/** Drachtio servers that hang: their TCP goes on, and nothing else does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';
const SECRET = 'only for tests';

/** Two looks at a server that hangs, and as much again for a busy machine. */
const NOTICED_MS_MAX = 12_000;

interface Report {
  readonly name: string;
  readonly isReady: boolean;
  readonly state: string;
}

/** A drachtio server as far as call control needs one. */
async function startStandIn() {
  const [sipPort, port] = [await freePort(), await freePort()];
  const script = join(import.meta.dirname, '../../support/sip/drachtio-stand-in.ts');
  const args = [script, String(sipPort), String(port), SECRET];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('Cannot set up: the stand-in has no output');
  await once(child.stdout, 'data');
  return {
    name: `sip by 127.0.0.1:${port}`,
    address: `127.0.0.1:${port}`,
    hang: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
  };
}

/** A server with its drachtio servers, and a telephone behind its trunk that answers. */
async function startWorld(addresses: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-hung-'));
  const phone = new Phone();
  await phone.start();
  phone.onRinging((call) => void call.answer());
  const trunk = { name: 'phone', proxy: phone.hostPort(), numbers: [NUMBER] };
  const SIP_TRUNKS = join(folder, 'trunks.json');
  writeFileSync(SIP_TRUNKS, JSON.stringify([trunk]));
  const environment = {
    ...{ TELEPHONY: 'drachtio', MEDIA: 'direct', SIP_TRUNKS },
    ...{ DRACHTIO_HOST: addresses.join(','), DRACHTIO_SECRET: SECRET },
  };
  const startedMs = performance.now();
  const server = await startServer({ dataDir: join(folder, 'data'), environment });
  onTestFinished(async () => {
    await server.stop();
    await phone.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { server, startedMs };
}

async function reportsOf(server: TestServer): Promise<readonly Report[]> {
  const response = await fetch(`${server.baseUrl}/readyz`);
  const { carriers } = (await response.json()) as { readonly carriers: readonly Report[] };
  return carriers;
}

async function stateOf(server: TestServer, name: string): Promise<string> {
  const report = (await reportsOf(server)).find((one) => one.name === name);
  return `${report?.isReady ? 'ready' : 'not ready'}, ${report?.state}`;
}

async function dial(server: TestServer, agentId: string, count: number): Promise<void> {
  for (let dialled = 0; dialled < count; dialled += 1) {
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+12025550199' });
  }
}

test('a drachtio server that hangs is named, gets no calls while another is well, and is back when it goes on', async () => {
  const [first, second] = [await startStandIn(), await startStandIn()];
  const { server } = await startWorld([`${first.address}*3`, second.address]);
  await server.ready();
  const agentId = await server.createAgent();

  first.hang();
  const named = { timeout: NOTICED_MS_MAX, interval: 250 };
  await expect.poll(() => stateOf(server, first.name), named).toContain('hangs');
  const whileHung = await stateOf(server, first.name);
  await dial(server, agentId, 8);
  await expect
    .poll(async () => (await server.api('GET', '/api/calls?status=in_progress')).body.total, named)
    .toBe(8);
  first.goOn();
  await expect.poll(() => stateOf(server, first.name), named).toContain('listening on');

  // While the other is well, so is the server.
  expect(whileHung).toMatch(/^ready, the server at .* hangs: it has answered nothing since 2/);
});

test('a start does not wait for a drachtio server that takes connections and says nothing, and names it', async () => {
  const hung = await startStandIn();
  hung.hang();

  const { server, startedMs } = await startWorld([hung.address]);
  const isUp = () =>
    fetch(`${server.baseUrl}/healthz`)
      .then(({ ok }) => ok)
      .catch(() => false);
  await expect.poll(isUp, { timeout: 20_000 }).toBe(true);
  const tookMs = performance.now() - startedMs;
  const state = await stateOf(server, hung.name);
  const { status } = await fetch(`${server.baseUrl}/readyz`);
  hung.goOn();
  await server.ready();

  expect(tookMs).toBeLessThan(15_000);
  expect([status, state]).toEqual([503, expect.stringMatching(/^not ready, connecting to the/)]);
  expect(server.output).toContain('SIP server has not answered yet');
});
