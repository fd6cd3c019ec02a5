/** The whole server behind an address translator: what far ends on either side are told, and that both sides hear each other. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  expectGood,
  farEndLevels,
  inTurns,
  LOUD,
  NAT_TRUNKS,
  NEIGHBOUR,
  openPhone,
  REGISTRAR,
  SUBSCRIBER,
} from '../../support/network/nat-calls.ts';
import {
  LAN_PHONE,
  NatNetwork,
  PUBLIC,
  SECOND_PUBLIC,
  SERVER,
  whyNoNatNetwork,
} from '../../support/network/nat-network.ts';
import { type Registrar, startRegistrar } from '../../support/network/registrar.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';
const NAME = 'voice.test';

/** Calls each way. Registrar and telephone carry ten at a time. */
const MANY = { calls: 50, atATime: 10 };

interface World {
  readonly network: NatNetwork;
  readonly registrar: Registrar;
  readonly server: TestServer;
}

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * Everything is in place, and the trunk is registered, when it resolves.
 *
 * @param prepare runs before the server starts.
 */
async function open(
  environment: Readonly<Record<string, string>>,
  prepare?: (network: NatNetwork) => Promise<void>,
): Promise<World> {
  const network = await NatNetwork.open();
  network.server.nameHosts({ [NAME]: PUBLIC });
  closers.push(() => network.close());
  const folder = mkdtempSync(join(tmpdir(), 'offhook-nat-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const SIP_TRUNKS = join(folder, 'trunks.json');
  writeFileSync(SIP_TRUNKS, JSON.stringify(NAT_TRUNKS));
  const registrar = await startRegistrar(network.outside);
  await prepare?.(network);
  const ports = { SIP_PORT: '5060', RTP_PORTS: '20000-20999' };
  const server = await startServer({
    environment: { ...ports, SIP_TRUNKS, PUBLIC_ADDRESS: PUBLIC, ...environment },
    namespace: network.server,
  });
  closers.push(() => server.stop());
  await server.ready();
  return { network, registrar, server };
}

const addressOf = (contact: string) => /@([\d.]+):5060/.exec(contact)?.[1];

const reason = whyNoNatNetwork(['kamailio', 'ss']);
if (reason !== undefined) process.stderr.write(`skipped: ${reason} (server behind a NAT)\n`);

describe.skipIf(reason !== undefined)('a server behind a NAT', () => {
  test('registers, is called and calls through the translator, and is heard by both sides in all of 50 and 50 calls', async () => {
    const { network, server } = await open({ SIP_HOST: SERVER });
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent();

    const callsIn = await inTurns(phone, () => phone.call(`sip:${NUMBER}@${REGISTRAR}`), MANY);
    const levelsIn = await farEndLevels(server);
    const callsOut = await inTurns(
      phone,
      () => server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' }),
      MANY,
    );
    const levels = await farEndLevels(server);

    expectGood(callsIn, PUBLIC);
    expectGood(callsOut, PUBLIC);
    expect([levelsIn.length, levels.length]).toEqual([MANY.calls, 2 * MANY.calls]);
    expect(levels.filter((level) => level < LOUD)).toEqual([]);
  });

  test.each([
    SERVER,
    '0.0.0.0',
    '::',
  ])('on SIP_HOST=%s it tells each far end the address that it reaches', async (SIP_HOST) => {
    const { network, server } = await open({ SIP_HOST });
    await server.createAgent();
    const calls = [
      { from: LAN_PHONE, at: SERVER, told: SERVER },
      { from: SUBSCRIBER, at: REGISTRAR, told: PUBLIC },
      { from: NEIGHBOUR, at: SECOND_PUBLIC, told: SECOND_PUBLIC },
    ];

    for (const { from, at, told } of calls) {
      const phone = await openPhone(network, from);
      phone.call(`sip:${NUMBER}@${at}`);
      expectGood(await phone.reports(1), told);
    }
    const levels = await farEndLevels(server);

    expect(levels.filter((level) => level >= LOUD)).toHaveLength(calls.length);
  });

  test('it registers by TCP as well, and is called that way', async () => {
    const { network, server } = await open({ SIP_HOST: SERVER });
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent({ phoneNumber: '+12025550124' });

    phone.call(`sip:+12025550124@${REGISTRAR}`);
    const [called] = await phone.reports(1);
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });
    const [calling] = await phone.reports(1);
    const levels = await farEndLevels(server);

    expect(called?.contact).toMatch(`@${PUBLIC}:5060;transport=tcp`);
    expect(calling?.contact).toMatch(`@${PUBLIC}:5060;transport=tcp`);
    expect([called?.media, calling?.media]).toEqual([PUBLIC, PUBLIC]);
    expect(levels.filter((level) => level >= LOUD)).toHaveLength(2);
  });

  test('it registers its new address when the name that it has outside has moved', async () => {
    const { network, registrar } = await open({ SIP_HOST: SERVER, PUBLIC_ADDRESS: NAME });
    await expect.poll(() => registrar.contacts().length).toBe(2);
    const before = new Set(registrar.contacts().map(addressOf));

    network.server.nameHosts({ [NAME]: SECOND_PUBLIC });
    await expect.poll(() => registrar.contacts().length, { timeout: 60_000 }).toBe(4);

    expect(before).toEqual(new Set([PUBLIC]));
    expect(new Set(registrar.contacts().slice(2).map(addressOf))).toEqual(new Set([SECOND_PUBLIC]));
  });

  test('with PUBLIC_ADDRESS=auto it learns its address from the registrar, says so, and is heard both ways', async () => {
    const { network, server } = await open({ SIP_HOST: SERVER, PUBLIC_ADDRESS: 'auto' });
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent();

    phone.call(`sip:${NUMBER}@${REGISTRAR}`);
    const callsIn = await phone.reports(1);
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });
    const callsOut = await phone.reports(1);
    const levels = await farEndLevels(server);
    const readyz = await (await fetch(`${server.baseUrl}/readyz`)).text();
    const { body } = await server.api('GET', '/api/trunks');

    expectGood(callsIn, PUBLIC);
    expectGood(callsOut, PUBLIC);
    expect(levels.filter((level) => level >= LOUD)).toHaveLength(2);
    expect(readyz).toContain(`${PUBLIC}, as a carrier sees it`);
    expect(body.data).toContainEqual(
      expect.objectContaining({
        name: 'registered',
        addressInUse: { address: PUBLIC, source: 'carrier' },
      }),
    );
  });

  test('with auto and a STUN server it registers the right address at once, and the new one when the router gets another', async () => {
    const STUN_SERVER = `${NEIGHBOUR}:3478`;
    const settings = { SIP_HOST: SERVER, PUBLIC_ADDRESS: 'auto', STUN_SERVER };
    const { network, registrar } = await open(settings, async ({ outside }) => {
      const stun = outside.startNode('stun-server-process.ts', NEIGHBOUR, '3478');
      if (stun.stdout !== null) await once(stun.stdout, 'data');
    });
    await expect.poll(() => registrar.contacts().length).toBeGreaterThanOrEqual(2);
    const before = registrar.contacts();

    network.movePublicAddress(SECOND_PUBLIC);
    const moved = () => registrar.contacts().filter((uri) => addressOf(uri) === SECOND_PUBLIC);
    await expect
      .poll(() => new Set(moved().map((uri) => uri.replace(/@.*/, ''))), { timeout: 100_000 })
      .toEqual(new Set(['sip:trunk', 'sip:trunk-tcp']));

    expect(new Set(before.map(addressOf))).toEqual(new Set([PUBLIC]));
  });

  test('it calls a telephone of its own network from its own address', async () => {
    const { network, server } = await open({ SIP_HOST: '0.0.0.0' });
    const phone = await openPhone(network, LAN_PHONE);
    const agentId = await server.createAgent({ phoneNumber: '+12025550188' });

    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });
    const calls = await phone.reports(1);

    expectGood(calls, SERVER);
    expect(calls[0]?.via).toBe(SERVER);
  });
});
