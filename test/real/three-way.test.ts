/** Three on a line when one of the processes is killed, and what FreeSWITCH keeps of them: nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { findPrograms, type RealWorld, startRealWorld } from './real-processes.ts';

const NUMBER = '+12025550123';
const COLLEAGUE = '+12025550177';

const SOON = { timeout: 10_000, interval: 250 };
const ROOM = { timeout: 30_000, interval: 250 };

const programs = findPrograms('three on a line over real servers');

describe.skipIf(programs === undefined)('three on a line over real servers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-three-way-'));
  let world: RealWorld;
  let server: TestServer;
  let caller: Phone;
  let colleague: Phone;

  const start = () => {
    const SIP_TRUNKS = join(folder, 'trunks.json');
    const dataDir = join(folder, 'data');
    return startServer({ dataDir, environment: { ...world.environment, SIP_TRUNKS } });
  };

  beforeAll(async () => {
    if (programs === undefined) return;
    world = await startRealWorld(programs);
    colleague = new Phone({ number: COLLEAGUE });
    await colleague.start();
    const proxy = colleague.hostPort();
    const trunk = { name: 'office', proxy, numbers: [NUMBER], allowedSources: ['127.0.0.1'] };
    writeFileSync(join(folder, 'trunks.json'), JSON.stringify([trunk]));
    server = await (await start()).ready();
    await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  });
  beforeEach(async () => {
    caller = new Phone();
    await caller.start();
  });
  afterEach(() => caller.stop());
  afterAll(async () => {
    await server?.stop();
    await colleague?.stop();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const openCalls = async () => {
    const { body } = await server.api('GET', '/api/calls?status=in_progress');
    return body.data as readonly { readonly id: string }[];
  };
  /** A machine with much else to do takes no calls for a while. */
  const hasRoom = async () => {
    const response = await fetch(`${server.baseUrl}/readyz`);
    return (await response.text()).includes('takes new calls');
  };
  const meet = async (): Promise<readonly [PhoneCall, PhoneCall]> => {
    await expect.poll(hasRoom, ROOM).toBe(true);
    await expect.poll(openCalls, SOON).toEqual([]);
    const rings = new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
    const call = await caller.call(`sip:${NUMBER}@127.0.0.1:${world.sipPort}`);
    await expect.poll(openCalls, SOON).toHaveLength(1);
    const [{ id } = { id: '' }] = await openCalls();
    const wish = { to: COLLEAGUE, mode: 'three-way' };
    expect(await server.api('POST', `/api/calls/${id}/transfer`, wish)).toMatchObject({
      status: 202,
    });
    const theirs = await (await rings).answer();
    const events = async () => JSON.stringify(await server.api('GET', `/api/calls/${id}/events`));
    await expect.poll(events, ROOM).toContain('three_way');
    expect(await world.channels()).toBe(4);
    return [call, theirs];
  };
  const areOver = async (calls: readonly PhoneCall[]) => {
    const over = calls.map(({ ended }) => ended.then(() => true));
    const late = new Promise((resolve) => setTimeout(resolve, SOON.timeout, 'too late'));
    expect(await Promise.race([Promise.all(over), late])).toEqual(calls.map(() => true));
  };
  const isEmpty = () => expect.poll(() => world.channels(), SOON).toBe(0);

  test('FreeSWITCH keeps the legs of those who are there, and none when the caller has hung up', async () => {
    const [first, colleagueOfFirst] = await meet();
    await colleagueOfFirst.hangUp();
    await expect.poll(() => world.channels(), SOON).toBe(2);
    await first.hangUp();
    await isEmpty();

    const second = await meet();
    await second[0].hangUp();
    await areOver(second);
    await isEmpty();

    await expect.poll(openCalls, SOON).toEqual([]);
  });

  test('a FreeSWITCH that is killed ends both calls of three on a line', async () => {
    const both = await meet();

    await world.freeswitch.kill();

    await areOver(both);
    await expect.poll(openCalls, SOON).toEqual([]);
    await world.freeswitch.start();
    await server.ready();
  });

  test('a drachtio-server that is killed and is back at once has both calls ended', async () => {
    const both = await meet();

    await world.drachtio.kill();
    await world.drachtio.start();
    await server.ready();

    await areOver(both);
    await isEmpty();
    await expect.poll(openCalls, SOON).toEqual([]);
  });

  test('a phone server that is killed leaves neither call behind', async () => {
    const both = await meet();

    server.kill('SIGKILL');
    await server.exited;
    server = await start();

    await areOver(both);
    await isEmpty();
    await server.ready();
    expect(await openCalls()).toEqual([]);
  });
});
