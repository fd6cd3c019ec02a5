/** A trunk whose proxy is dead: its calls wait with the reason, and go out when it is back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

/** Two unanswered requests of 4 s each, and the waits between; the rest is for a busy machine. */
const DOWN = { timeout: 30_000, interval: 500 };

/** Any request brings the trunk back, and the dialer looks every second. */
const BACK = { timeout: 20_000, interval: 500 };

/** Time within which the first request is answered, even by a phone that starts after it. */
const ASKED_MS = 7_000;

async function openWorld() {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-trunk-down-'));
  const proxyPort = await freePort();
  const trunk = { name: 'late', proxy: `127.0.0.1:${proxyPort}`, numbers: [NUMBER] };
  const SIP_TRUNKS = join(folder, 'trunks.json');
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, optionsIntervalSeconds: 5 }]));
  const environment = { SIP_TRUNKS, SIP_PORT: String(await freePort()) };
  const server = await startServer({ dataDir: join(folder, 'data'), environment });
  await server.ready();
  const startPhone = async () => {
    const phone = new Phone({ port: proxyPort });
    phone.onRinging((call) => void call.answer());
    await phone.start();
    onTestFinished(() => phone.stop());
    return phone;
  };
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { server, startPhone, problem: `no answer to OPTIONS from ${trunk.proxy}` };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** The trunk as `GET /api/trunks`, `/readyz` and `/metrics` show it. */
async function shownOf({ server }: World) {
  const { body } = await server.api('GET', '/api/trunks');
  const [trunk] = body.data as readonly { readonly state: string; readonly detail: string }[];
  const readyz = await fetch(`${server.baseUrl}/readyz`);
  const { carriers } = (await readyz.json()) as {
    readonly carriers: readonly { readonly name: string; readonly isReady: boolean }[];
  };
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  return {
    trunk,
    readyz: readyz.status,
    carrier: carriers.find(({ name }) => name === 'trunk late'),
    failed: /^offhook_trunks\{state="failed"\} (\d+)$/m.exec(metrics)?.[1],
  };
}

test('a call through a proxy that is dead waits with the reason, and is dialled when the proxy is back', async () => {
  const world = await openWorld();
  const { server, startPhone, problem } = world;
  const agentId = await server.createAgent();
  const stateOfTrunk = async () => (await shownOf(world)).trunk?.state;

  const phone = await startPhone();
  await setTimeout(ASKED_MS);
  await phone.stop();
  await expect.poll(stateOfTrunk, DOWN).toBe('failed');
  const down = await shownOf(world);
  const request = { agentId, from: NUMBER, to: '+12025550199' };
  const { body } = await server.api('POST', '/api/calls/outbound', request);
  const callOf = async () => (await server.api('GET', `/api/calls/${body.callId}`)).body;
  const waiting = await callOf();
  await startPhone();
  await expect.poll(async () => (await callOf()).status, BACK).toBe('in_progress');
  const back = await shownOf(world);

  expect(down).toMatchObject({
    trunk: { state: 'failed', detail: problem },
    readyz: 503,
    carrier: { isReady: false, state: problem },
    failed: '1',
  });
  expect(waiting).toMatchObject({
    status: 'queued',
    failureReason: `The trunk "late" takes no calls: ${problem}.`,
    sipStatus: null,
  });
  expect(await callOf()).toMatchObject({ failureReason: null });
  expect(back).toMatchObject({ trunk: { state: 'ready' }, readyz: 200, failed: '0' });
});
