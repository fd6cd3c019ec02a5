/** One setting, `TELEPHONY`, moves a server from its own SIP engine to a drachtio server and back. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NUMBER = '+12025550123';
const SECRET = 'only for tests';

/** A drachtio server as far as call control needs one. */
async function startStandIn(sipPort: number, port: number) {
  const script = join(import.meta.dirname, '../../support/sip/drachtio-stand-in.ts');
  const args = [script, String(sipPort), String(port), SECRET];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const stop = async () => {
    child.stdin.end();
    await exited;
  };
  onTestFinished(stop);
  return { stop };
}

async function openWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-setting-'));
  const [sipPort, controlPort] = [await freePort(), await freePort()];
  const phone = new Phone();
  await phone.start();
  let server: TestServer | undefined;
  const start = async (telephony: string) => {
    const environment = {
      SIP_PORT: String(sipPort),
      DRACHTIO_PORT: String(controlPort),
      DRACHTIO_SECRET: SECRET,
      MEDIA: 'direct',
      TELEPHONY: telephony,
    };
    server = await (await startServer({ dataDir, environment })).ready();
    return server;
  };
  onTestFinished(async () => {
    await server?.stop();
    await phone.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const call = () => phone.call(`sip:${NUMBER}@127.0.0.1:${sipPort}`);
  return { start, call, startStandIn: () => startStandIn(sipPort, controlPort) };
}

async function untilInProgress(server: TestServer, count: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const { body } = await server.api('GET', '/api/calls?status=in_progress');
    if (body.total === count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`There were never ${count} calls in progress`);
}

test('TELEPHONY alone moves a server to drachtio and back, and calls that a crash left are ended on the way', async () => {
  const world = await openWorld();
  const embedded = await world.start('embedded');
  await embedded.createAgent({ greeting: 'Hello. '.repeat(60) });
  const left = await Promise.all([world.call(), world.call()]);
  // The far end knows of the answer before the call is written down.
  await untilInProgress(embedded, 2);

  embedded.kill('SIGKILL');
  await embedded.exited;
  const standIn = await world.startStandIn();
  const moved = await world.start('drachtio');
  const ends = await Promise.all(left.map(({ ended }) => ended));
  const [overDrachtio] = await Promise.all([world.call()]);
  await overDrachtio.hangUp();
  await moved.stop();
  await standIn.stop();
  const back = await world.start('embedded');
  await (await world.call()).hangUp();
  const calls = await back.endedCalls();

  expect(ends.map(({ cause }) => cause)).toEqual(['remote-bye', 'remote-bye']);
  expect(calls.map(({ endReason }) => endReason).sort()).toEqual([
    'error',
    'error',
    'user_hangup',
    'user_hangup',
  ]);
});
