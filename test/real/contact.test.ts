/** drachtio-server on another address of the machine than FreeSWITCH: SIP between the two leaves loopback. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { startServer } from '../support/server/server.ts';
import { findPrograms, startRealWorld, type WorldOptions } from './real-processes.ts';

const NUMBER = '+12025550123';
const STATE_MS_MAX = 15_000;

const programs = findPrograms('contact of drachtio-server');

/** An IPv4 address of this machine that is not loopback. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

async function openWorld(options: WorldOptions) {
  if (programs === undefined) throw new Error('Cannot set up: there are no programs');
  const world = await startRealWorld(programs, options);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-contact-'));
  const SIP_TRUNKS = join(folder, 'trunks.json');
  // Without a trunk only loopback may ring.
  const trunk = { name: 'here', proxy: `${address}:5060`, allowedSources: [address] };
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, numbers: [NUMBER] }]));
  const server = await startServer({ environment: { ...world.environment, SIP_TRUNKS } });
  onTestFinished(async () => {
    await server.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const stateOfMedia = async () => {
    const response = await fetch(`${server.baseUrl}/readyz`).catch(() => undefined);
    if (response === undefined) return 'not up';
    const { carriers } = (await response.json()) as {
      readonly carriers: readonly { readonly name: string; readonly state: string }[];
    };
    return `${response.status} ${carriers.find(({ name }) => name.startsWith('freeswitch'))?.state}`;
  };
  return { world, server, stateOfMedia };
}

describe.skipIf(programs === undefined || address === undefined)('real servers', () => {
  test('a contact that FreeSWITCH does not trust makes the server unready, with what to change', async () => {
    const { stateOfMedia } = await openWorld({ sipAddress: address ?? '' });

    await expect
      .poll(stateOfMedia, { timeout: STATE_MS_MAX })
      .toMatch(/^503 no media through .*: it refuses our SIP with 403: .*FREESWITCH_TRUSTED/);
  });

  test('an inner side on another address, and trust in its network, leave the event socket open', async () => {
    const inner = { FREESWITCH_INNER_ADDRESS: address ?? '', FREESWITCH_TRUSTED: 'localnet.auto' };
    const { world, server } = await openWorld({ sipAddress: address ?? '', freeswitch: inner });
    await server.ready();
    await server.createAgent({ greeting: 'Hello. '.repeat(20) });
    const phone = new Phone({ address: address ?? '' });
    await phone.start();
    onTestFinished(() => phone.stop());

    const call = await phone.call(`sip:${NUMBER}@${address}:${world.sipPort}`);

    const voiced = () => call.line.heard.filter(({ isVoiced }) => isVoiced).length;
    await expect.poll(voiced, { timeout: STATE_MS_MAX }).toBeGreaterThan(20);
    await call.hangUp();
  });
});
