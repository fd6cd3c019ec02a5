/** A server whose main thread has no time left: it refuses new calls, keeps those it has, and comes back. */

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const BURN = pathToFileURL(
  join(import.meta.dirname, '../../support/server/burn-main-thread.ts'),
).href;

/** Admission stops after two busy seconds and resumes after five calm ones; the test machine may be busy as well. */
const REFUSES_MS_MAX = 20_000;
const ADMITS_MS_MAX = 60_000;

const LOOK_MS = 250;
const PACKET_MS = 20;

let server: TestServer;
const phone = new Phone();

beforeAll(async () => {
  server = await startServer({ environment: { NODE_OPTIONS: `--import=${BURN}` } });
  await server.ready();
  await server.createAgent({ greeting: 'Hello. '.repeat(100) });
  await phone.start();
});

afterAll(async () => {
  await phone.stop();
  await server.stop();
});

const ring = () => phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);

async function text(path: string): Promise<string> {
  return (await fetch(`${server.baseUrl}${path}`)).text();
}

/** What `/readyz` says about room, once it is one thing or the other. */
async function untilRoom(isThere: boolean, withinMs: number): Promise<string> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const { checks } = JSON.parse(await text('/readyz'));
    const { state } = checks.find(({ name }: { name: string }) => name === 'room for calls');
    if ((state === 'takes new calls') === isThere) return state;
    if (performance.now() > untilMs) throw new Error(`It still says "${state}"`);
    await wait(LOOK_MS);
  }
}

/** Packets that the agent's voice should have had over those that came, in the time that something takes. */
async function paceDuring(call: PhoneCall, act: () => Promise<unknown>): Promise<number> {
  const [fromMs, before] = [performance.now(), call.line.heard.length];
  await act();
  const packets = call.line.heard.length - before;
  return (packets * PACKET_MS) / (performance.now() - fromMs);
}

test('an overloaded server refuses new calls, keeps the pace of those it has, and takes calls again', async () => {
  const talking = await ring();
  await wait(500);

  server.kill('SIGUSR2');
  const refusal = await untilRoom(false, REFUSES_MS_MAX);
  const pace = await paceDuring(talking, async () => {
    await expect(ring()).rejects.toMatchObject({ sipStatus: 503 });
    await wait(1000);
  });
  const readiness = await fetch(`${server.baseUrl}/readyz`);
  const metrics = await text('/metrics');
  server.kill('SIGUSR2');
  await untilRoom(true, ADMITS_MS_MAX);
  const next = await ring();
  await Promise.all([talking.hangUp(), next.hangUp()]);

  expect(refusal).toBe('refuses new calls: short of time on the main thread');
  expect(pace).toBeGreaterThan(0.9);
  expect(readiness.status).toBe(200);
  expect(metrics).toContain('offhook_calls_shed_total{shortage="event_loop"} 1\n');
  expect(metrics).toContain('offhook_calls_room 0\n');
  expect(server.output.match(/new calls are refused/g)).toHaveLength(1);
});

test('an overloaded server takes the first call all the same', async () => {
  await server.endedCalls();
  server.kill('SIGUSR2');
  await untilRoom(false, REFUSES_MS_MAX);

  const only = await ring();

  expect(only.dialog.state).toBe('confirmed');
  server.kill('SIGUSR2');
  await only.hangUp();
});
