/** What happens to calls when one of the three processes is killed: drachtio-server, FreeSWITCH, or ours. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { findPrograms, type RealWorld, startRealWorld } from './real-processes.ts';

const CALLS = 20;
const NUMBER = '+12025550123';

const DIAL_EVERY_MS = 50;
const ROOM_MS_MAX = 30_000;

/** Zombies are calls of which one side does not know that they are over. */
const ZOMBIE_MS_MAX = 10_000;

const programs = findPrograms('faults of real servers');

describe.skipIf(programs === undefined)('real servers', () => {
  let world: RealWorld;
  let server: TestServer;
  let dataDir: string;

  const start = () => startServer({ dataDir, environment: world.environment });
  const uri = () => `sip:${NUMBER}@127.0.0.1:${world.sipPort}`;

  beforeAll(async () => {
    if (programs === undefined) return;
    world = await startRealWorld(programs);
    dataDir = mkdtempSync(join(tmpdir(), 'offhook-real-data-'));
    server = await (await start()).ready();
    await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  });
  afterAll(async () => {
    await server?.stop();
    await world?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** A machine with much else to do refuses calls by 503 for a while, which is not the fault that is looked for here. */
  async function roomForCalls(): Promise<string | undefined> {
    const response = await fetch(`${server.baseUrl}/readyz`);
    const { checks } = (await response.json()) as {
      readonly checks: readonly { readonly name: string; readonly state: string }[];
    };
    return checks.find(({ name }) => name === 'room for calls')?.state;
  }

  async function callIn(count: number): Promise<readonly PhoneCall[]> {
    const phone = new Phone();
    await phone.start();
    onTestFinished(() => phone.stop());
    await expect.poll(roomForCalls, { timeout: ROOM_MS_MAX }).toBe('takes new calls');
    const dialled: Promise<PhoneCall>[] = [];
    while (dialled.length < count) {
      dialled.push(phone.call(uri()));
      await new Promise((resolve) => setTimeout(resolve, DIAL_EVERY_MS));
    }
    const calls = await Promise.all(dialled);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return calls;
  }

  /** How long it took until every call was over; fails when it takes longer than zombies may live. */
  async function endOf(calls: readonly PhoneCall[], sinceMs: number): Promise<number> {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('calls are still up')), ZOMBIE_MS_MAX).unref();
    });
    await Promise.race([Promise.all(calls.map(({ ended }) => ended)), late]);
    return Math.round(performance.now() - sinceMs);
  }

  async function emptyAfter(sinceMs: number): Promise<number> {
    await expect.poll(() => world.channels(), { timeout: ZOMBIE_MS_MAX, interval: 250 }).toBe(0);
    return Math.round(performance.now() - sinceMs);
  }

  /** Calls that the phone server believes to be in progress. */
  async function openCalls() {
    const { body } = await server.api('GET', '/api/calls?limit=100');
    const calls = body.data as { readonly id: string; readonly endedAt: string | null }[];
    return calls.filter(({ endedAt }) => endedAt === null);
  }

  const say = (text: string) => process.stdout.write(`${text}\n`);

  test('a FreeSWITCH that is killed ends its calls, and takes new ones when it is back', async () => {
    const calls = await callIn(CALLS);

    const killedMs = performance.now();
    await world.freeswitch.kill();
    const endedMs = await endOf(calls, killedMs);
    const restartMs = performance.now();
    await world.freeswitch.start();
    await server.ready();
    const readyMs = Math.round(performance.now() - restartMs);
    const [again] = await callIn(1);
    await again?.hangUp();

    say(
      `FreeSWITCH killed: ${CALLS} calls ended after ${endedMs} ms; ready ${readyMs} ms after its start`,
    );
    expect(calls).toHaveLength(CALLS);
  });

  test('a drachtio-server that is killed and is back at once has the calls that it lost ended', async () => {
    const calls = await callIn(CALLS);

    const killedMs = performance.now();
    await world.drachtio.kill();
    const restartMs = performance.now();
    await world.drachtio.start();
    await server.ready();
    const readyMs = Math.round(performance.now() - restartMs);
    const endedMs = await endOf(calls, killedMs);
    const emptyMs = await emptyAfter(killedMs);
    const [again] = await callIn(1);
    await again?.hangUp();

    say(
      `drachtio killed: ready ${readyMs} ms after its start; its ${CALLS} callers had BYE after ${endedMs} ms, ` +
        `FreeSWITCH was empty after ${emptyMs} ms`,
    );
    await expect.poll(openCalls).toEqual([]);
  });

  test('a drachtio-server that stays away leaves no call behind here, and ends them at the carrier when it is back', async () => {
    const calls = await callIn(CALLS);

    const killedMs = performance.now();
    await world.drachtio.kill();
    const emptyMs = await emptyAfter(killedMs);
    await expect.poll(openCalls, { timeout: ZOMBIE_MS_MAX, interval: 250 }).toEqual([]);
    const overMs = Math.round(performance.now() - killedMs);
    const restartMs = performance.now();
    await world.drachtio.start();
    const endedMs = await endOf(calls, restartMs);

    say(
      `drachtio away: FreeSWITCH was empty after ${emptyMs} ms, its ${CALLS} calls were on record as over after ` +
        `${overMs} ms; callers had BYE ${endedMs} ms after its start`,
    );
    expect(overMs).toBeLessThan(ZOMBIE_MS_MAX);
  });

  test('a connection that breaks ends no call of a drachtio-server that lives on, and hides no end', async () => {
    const calls = await callIn(CALLS);
    let endedCount = 0;
    for (const { ended } of calls) void ended.then(() => (endedCount += 1));

    world.relay.cut();
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    const endedByBreak = endedCount;
    const legs = await world.channels();
    const hangUpMs = performance.now();
    await Promise.all(calls.slice(1).map((call) => call.hangUp()));
    await expect.poll(() => world.channels(), { timeout: ZOMBIE_MS_MAX, interval: 250 }).toBe(2);
    const noticedMs = Math.round(performance.now() - hangUpMs);
    await expect.poll(openCalls, { timeout: ZOMBIE_MS_MAX, interval: 250 }).toHaveLength(1);
    const [last] = await openCalls();
    const endMs = performance.now();
    await server.api('POST', `/api/calls/${last?.id}/hangup`);
    const byeMs = await endOf(calls, endMs);
    await emptyAfter(endMs);

    say(
      `connection broken: no call ended by it; hang-ups after it noticed after ${noticedMs} ms, our own BYE arrived after ${byeMs} ms`,
    );
    expect([endedByBreak, legs]).toEqual([0, 2 * CALLS]);
  });

  test('a phone server that is killed leaves no call behind, here or at the carrier', async () => {
    const calls = await callIn(CALLS);

    const killedMs = performance.now();
    server.kill('SIGKILL');
    await server.exited;
    server = await start();
    const endedMs = await endOf(calls, killedMs);
    const emptyMs = await emptyAfter(killedMs);
    await server.ready();

    say(
      `our process killed: ${CALLS} callers had BYE after ${endedMs} ms, FreeSWITCH was empty after ${emptyMs} ms`,
    );
    expect(await openCalls()).toEqual([]);
  });
});
