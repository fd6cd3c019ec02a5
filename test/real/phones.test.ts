/** Telephones that register and call by a real drachtio-server. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { DigestClient } from '../../src/sip/digest.ts';
import { freePort } from '../support/network/free-ports.ts';
import { startServer } from '../support/server/server.ts';
import { findPrograms, startRealWorld } from './real-processes.ts';

const NUMBER = '+12025550123';
const PASSWORD = 'secret-of-the-lab';

const programs = findPrograms('telephones at drachtio-server');

async function openWorld() {
  if (programs === undefined) throw new Error('Cannot set up: there are no programs');
  const world = await startRealWorld(programs);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-real-phones-'));
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const trunk = { name: 'acme', proxy: '192.0.2.1', allowedSources: ['192.0.2.1'] };
  const environment = {
    ...world.environment,
    MEDIA: 'direct',
    SIP_TRUNKS: file('trunks.json', [{ ...trunk, optionsIntervalSeconds: 0 }]),
    SIP_PHONES: file('phones.json', [{ name: 'lab', password: PASSWORD }]),
  };
  const server = await startServer({ environment });
  onTestFinished(async () => {
    await server.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.ready();
  return { world, server, folder };
}

describe.skipIf(programs === undefined)('telephones at a real drachtio-server', () => {
  test('register and call with their password', { timeout: 60_000 }, async () => {
    const { world, server, folder } = await openWorld();
    await server.createAgent({ phoneNumber: NUMBER });
    const phone = new Phone({ number: 'lab' });
    await phone.start();
    onTestFinished(() => phone.stop());

    const scenario = join(import.meta.dirname, '../support/sip/sipp-register.xml');
    const target = ['-sf', scenario, `127.0.0.1:${world.sipPort}`, '-i', '127.0.0.1', '-s', 'lab'];
    const account = ['-au', 'lab', '-ap', PASSWORD, '-m', '1', '-p', String(await freePort())];
    const more = ['-nostdin', '-timeout', '15s', '-timeout_error'];
    const sipp = spawn('sipp', [...target, ...account, ...more], { cwd: folder, stdio: 'ignore' });
    const registered = await new Promise((resolve) => sipp.on('close', resolve));
    const credentialsFor = () => ({ username: 'lab', password: PASSWORD });
    const digest = new DigestClient({ credentialsFor });
    const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${world.sipPort}`, { digest });
    await call.hangUp();

    expect(registered).toBe(0);
    expect((await server.endedCalls())[0]).toMatchObject({ endReason: 'user_hangup' });
  });
});
