/** One setting, `TELEPHONY`, moves a server from its own SIP and RTP to a real drachtio-server and FreeSWITCH, and back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { findPrograms, type RealWorld, startRealWorld } from './real-processes.ts';

const NUMBER = '+12025550123';

const programs = findPrograms('one setting on real servers');

/** Calls in until the caller has heard the agent; how many legs FreeSWITCH had for that. */
async function callThrough(world: RealWorld): Promise<number> {
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${world.sipPort}`);
  await expect.poll(() => call.line.heard.length, { timeout: 10_000 }).toBeGreaterThan(50);
  const channels = await world.channels();
  await call.hangUp();
  return channels;
}

describe.skipIf(programs === undefined)('one setting', () => {
  test('moves a server to drachtio and FreeSWITCH, and back', { timeout: 90_000 }, async () => {
    if (programs === undefined) return;
    const world = await startRealWorld(programs);
    const dataDir = mkdtempSync(join(tmpdir(), 'offhook-real-setting-'));
    let server: TestServer | undefined;
    onTestFinished(async () => {
      await server?.stop();
      await world.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const start = async (telephony: string) => {
      const environment = { ...world.environment, SIP_PORT: String(world.sipPort) };
      const moved = { ...environment, TELEPHONY: telephony };
      server = await (await startServer({ dataDir, environment: moved })).ready();
      return server;
    };

    await world.drachtio.kill();
    const embedded = await start('embedded');
    await embedded.createAgent({ greeting: 'Hello. '.repeat(60) });
    const before = await callThrough(world);
    await embedded.stop();
    await world.drachtio.start();
    const moved = await start('drachtio');
    const during = await callThrough(world);
    await moved.stop();
    await world.drachtio.kill();
    const back = await start('embedded');
    const after = await callThrough(world);
    const calls = await back.endedCalls();

    expect([before, during, after]).toEqual([0, 2, 0]);
    expect(calls.map(({ endReason }) => endReason)).toEqual(Array(3).fill('user_hangup'));
  });
});
