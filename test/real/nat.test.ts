/** The whole server with real servers behind an address translator, set up as sip-config/README.md says, and in no other way. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  CALLS,
  expectGood,
  farEndLevels,
  inTurns,
  LOUD,
  NAT_TRUNKS,
  NEIGHBOUR,
  openPhone,
  REGISTRAR,
  SUBSCRIBER,
} from '../support/network/nat-calls.ts';
import {
  LAN_PHONE,
  NatNetwork,
  PUBLIC,
  SECOND_PUBLIC,
  SERVER,
  whyNoNatNetwork,
} from '../support/network/nat-network.ts';
import { startRegistrar } from '../support/network/registrar.ts';
import { commandsIn, sectionOf } from '../support/server/documented-commands.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { DocumentedServers, SECRETS } from './documented-servers.ts';
import { findPrograms } from './real-processes.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../sip-config/README.md'), 'utf8');
const NUMBER = '+12025550123';

const folders = commandsIn(PAGE).filter(({ program }) => program === 'mkdir');
const behindNat = commandsIn(sectionOf(PAGE, 'Behind NAT, in a cloud'));
const settings = behindNat.find(({ program }) => program === 'npm')?.environment ?? {};
const starts = behindNat.filter(({ program }) => program !== 'npm');

interface World {
  readonly network: NatNetwork;
  readonly server: TestServer;
}

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const why = whyNoNatNetwork(['kamailio', 'ss']);
if (why !== undefined) process.stderr.write(`skipped: ${why} (real servers behind a NAT)\n`);
const programs = findPrograms('real servers behind a NAT');

/** The same commands on a machine whose own address carriers reach. */
const withoutNat = starts.map((command) => ({
  ...command,
  text: command.text.replace(/ --external-ip \S+/, ''),
}));

/** Everything is in place, and the trunks are registered, when it resolves. */
async function open(
  environment: Readonly<Record<string, string>> = {},
  commands = starts,
): Promise<World> {
  if (programs === undefined) throw new Error('Cannot set up: no programs');
  const network = await NatNetwork.open();
  closers.push(() => network.close());
  if (commands === withoutNat) network.route();
  const servers = new DocumentedServers(network.server, programs);
  closers.push(() => servers.close());
  await servers.run([...folders, ...commands]);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-nat-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const SIP_TRUNKS = join(folder, 'trunks.json');
  writeFileSync(SIP_TRUNKS, JSON.stringify(NAT_TRUNKS));
  await startRegistrar(network.outside);
  const own = { ...SECRETS, SIP_TRUNKS, SIP_PORT: '5060', RTP_PORTS: '20000-20999' };
  const server = await startServer({
    environment: { ...own, ...settings, ...environment },
    namespace: network.server,
  });
  closers.push(() => server.stop());
  await server.ready();
  return { network, server };
}

describe.skipIf(programs === undefined || why !== undefined)('real servers behind a NAT', () => {
  test('register, are called and call through the translator, and are heard by both sides in all of 20 and 20 calls', async () => {
    const { network, server } = await open();
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent();

    const callsIn = await inTurns(phone, () => phone.call(`sip:${NUMBER}@${REGISTRAR}`));
    const levelsIn = await farEndLevels(server);
    const callsOut = await inTurns(phone, () =>
      server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' }),
    );
    const levels = await farEndLevels(server);

    expectGood(callsIn, PUBLIC);
    expectGood(callsOut, PUBLIC);
    expect([levelsIn.length, levels.length]).toEqual([CALLS, 2 * CALLS]);
    expect(levels.filter((level) => level < LOUD)).toEqual([]);
  });

  test('register, are called and call without a NAT and without PUBLIC_ADDRESS, and are heard by both sides', async () => {
    const { network, server } = await open({ PUBLIC_ADDRESS: '' }, withoutNat);
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent();

    phone.call(`sip:${NUMBER}@${REGISTRAR}`);
    const called = await phone.reports(1);
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });
    const calling = await phone.reports(1);
    const levels = await farEndLevels(server);

    expectGood([...called, ...calling], SERVER);
    expect(levels.filter((level) => level >= LOUD)).toHaveLength(2);
  });

  test('tell each far end the address that it reaches', async () => {
    const { network, server } = await open();
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

  test('register by TCP as well, and are called that way', async () => {
    const { network, server } = await open();
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent({ phoneNumber: '+12025550124' });

    phone.call(`sip:+12025550124@${REGISTRAR}`);
    const [called] = await phone.reports(1);
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });
    const [calling] = await phone.reports(1);
    const levels = await farEndLevels(server);

    expect(called?.contact).toContain(`${PUBLIC}:5060;transport=tcp`);
    expect(calling?.contact).toContain(`${PUBLIC}:5060;transport=tcp`);
    expect([called?.media, calling?.media]).toEqual([PUBLIC, PUBLIC]);
    expect(levels.filter((level) => level >= LOUD)).toHaveLength(2);
  });

  test('call a telephone of their own network from their own address', async () => {
    const { network, server } = await open();
    const phone = await openPhone(network, LAN_PHONE);
    const agentId = await server.createAgent({ phoneNumber: '+12025550188' });

    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });

    expectGood(await phone.reports(1), SERVER);
  });

  test('are called and call with media of our own', async () => {
    const { network, server } = await open({ MEDIA: 'direct', SIP_HOST: SERVER });
    const phone = await openPhone(network, SUBSCRIBER);
    const agentId = await server.createAgent();

    phone.call(`sip:${NUMBER}@${REGISTRAR}`);
    const called = await phone.reports(1);
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+14155550101' });
    const calling = await phone.reports(1);

    expectGood([...called, ...calling], PUBLIC);
  });
});
