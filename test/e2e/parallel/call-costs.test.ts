/** What the carrier charges for calls through a trunk with a price, both ways, over changes of the price and kill -9. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';

const PRICE = {
  inbound: { perMinute: 0.004, currency: 'EUR' },
  outbound: { perMinute: 0.03, currency: 'EUR', connection: 0.05 },
};

/** The first minute at each price: the calls of the tests last a second or two. */
const [INBOUND, OUTBOUND] = [
  { amount: '0.0040', currency: 'EUR' },
  { amount: '0.0800', currency: 'EUR' },
];

async function openWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-costs-'));
  const environment = { SIP_PORT: String(await freePort()) };
  const phone = new Phone();
  await phone.start();
  const servers: TestServer[] = [];
  const start = async () => {
    const server = await (await startServer({ dataDir, environment })).ready();
    servers.push(server);
    return server;
  };
  onTestFinished(async () => {
    for (const server of servers) await server.stop();
    await phone.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const server = await start();
  const agentId = await server.createAgent({ phoneNumber: NUMBER });
  const trunk = { name: 'acme', proxy: phone.hostPort(), numbers: [NUMBER], price: PRICE };
  const access = { allowedSources: ['127.0.0.1'], optionsIntervalSeconds: 0 };
  const { status } = await server.api('POST', '/api/trunks', { ...trunk, ...access });
  expect(status).toBe(201);
  const uri = `sip:${NUMBER}@127.0.0.1:${environment.SIP_PORT}`;
  return { server, start, phone, agentId, uri };
}

async function costOf(server: TestServer, callId: string): Promise<unknown> {
  return (await server.api('GET', `/api/calls/${callId}`)).body.cost;
}

test('a call costs what its trunk says of its direction, and stays so when the price changes', async () => {
  const { server, phone, agentId, uri } = await openWorld();
  phone.onRinging((ringing) => void ringing.answer());

  const caller = await phone.call(uri);
  const incoming = await server.callInProgress();
  const during = await costOf(server, incoming);
  await caller.hangUp();
  await server.endedCalls();
  const dialled = await server.api('POST', '/api/calls/outbound', { agentId, to: '+12025550199' });
  const outgoing = String(dialled.body.callId);
  expect(await server.callInProgress()).toBe(outgoing);
  await server.api('PATCH', '/api/trunks/acme', { price: null });
  await server.api('POST', `/api/calls/${outgoing}/hangup`);
  await server.endedCalls();
  const later = await phone.call(uri);
  const free = await server.callInProgress();
  await later.hangUp();
  const listed = await server.endedCalls();

  expect([during, await costOf(server, incoming)]).toEqual([null, INBOUND]);
  expect(await costOf(server, outgoing)).toEqual(OUTBOUND);
  expect(await costOf(server, free)).toBeNull();
  expect(listed.map(({ cost }) => cost)).toEqual([null, OUTBOUND, INBOUND]);
  const { body } = await server.api('GET', '/api/analytics/details?period=last_7_days');
  expect(body).toMatchObject({ summary: { costs: [{ amount: '0.0840', currency: 'EUR' }] } });
});

test('an unanswered call has no cost, even with a price', async () => {
  const { server, phone, agentId } = await openWorld();
  phone.onRinging((ringing) => ringing.reject(486));

  const dialled = await server.api('POST', '/api/calls/outbound', { agentId, to: '+12025550199' });
  await expect
    .poll(async () => (await server.endedCalls())[0]?.endReason, { timeout: 15_000 })
    .toBe('busy');

  expect(await costOf(server, String(dialled.body.callId))).toBeNull();
});

test('a call that kill -9 ends is charged by the price at its answer, once', async () => {
  const { server, start, phone, uri } = await openWorld();
  await phone.call(uri);
  const callId = await server.callInProgress();
  const shown = async () => (await server.api('GET', `/api/calls/${callId}`)).body;
  // The end of a call that is cut off is its last sign of life.
  await expect.poll(async () => (await shown()).transcript, { timeout: 15_000 }).toBeDefined();
  await server.api('PATCH', '/api/trunks/acme', { price: null });

  server.kill('SIGKILL');
  await server.exited;
  const second = await start();
  const cost = await costOf(second, callId);
  second.kill('SIGKILL');
  await second.exited;
  const third = await start();

  expect(cost).toEqual(INBOUND);
  expect(await costOf(third, callId)).toEqual(INBOUND);
  const { body } = await third.api('GET', '/api/analytics/details?period=last_7_days');
  expect(body).toMatchObject({ summary: { costs: [INBOUND] } });
});
