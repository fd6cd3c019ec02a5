/** kill -9 while calls ring in and out: no party is left with an orphaned leg. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Phone, PhoneError, type RingingCall } from '../../../examples/phone/phone.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { EVENT_SECRET } from '../../telephony/support/event-socket-server.ts';
import { FreeSwitchDouble } from '../../telephony/support/freeswitch-double.ts';

const NUMBER = '+12025550123';
const CALLERS = 10;

/** Once the next start is ready. A caller who is told nothing gives up after minutes. */
const SETTLED_MS_MAX = 5_000;

async function openWorld(settings: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-crash-ringing-'));
  const phone = new Phone();
  await phone.start();
  const trunk = { name: 'phone', proxy: phone.hostPort(), numbers: [NUMBER] };
  const access = { username: 'joe', password: 'secret', allowedSources: ['127.0.0.1'] };
  const SIP_TRUNKS = join(folder, 'trunks.json');
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, ...access }]));
  const environment = { SIP_TRUNKS, SIP_PORT: String(await freePort()), ...settings };
  let server: TestServer | undefined;
  const start = async () => {
    server = await startServer({ dataDir: join(folder, 'data'), environment });
    return server.ready();
  };
  const kill = async () => {
    server?.kill('SIGKILL');
    await server?.exited;
  };
  onTestFinished(async () => {
    await server?.stop();
    await phone.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { phone, start, kill, uri: `sip:${NUMBER}@127.0.0.1:${environment.SIP_PORT}` };
}

/** Has the telephone rung by a new call of the server's; it asks for the password first. */
async function ringThePhone(world: Awaited<ReturnType<typeof openWorld>>): Promise<RingingCall> {
  const server = await world.start();
  const agentId = await server.createAgent();
  const ringing = new Promise<RingingCall>((resolve) => {
    world.phone.onRinging((call) => {
      const isKnown = call.request.get('proxy-authorization') !== undefined;
      if (isKnown) resolve(call);
      else
        call.reject(407, { 'Proxy-Authenticate': 'Digest realm="phone", nonce="n1", qop="auth"' });
    });
  });
  await server.api('POST', '/api/calls/outbound', { agentId, to: '+12025550199' });
  const call = await ringing;
  call.ring();
  const ringingCalls = async () =>
    (await server.api('GET', '/api/calls?status=ringing')).body.total;
  await expect.poll(ringingCalls, { timeout: 10_000 }).toBe(1);
  return call;
}

test('after kill -9 while an outgoing call rings, the next start cancels it', async () => {
  const world = await openWorld();
  const call = await ringThePhone(world);
  const cancelled = new Promise<string>((resolve) => {
    call.invite.on('cancelled', (message) => resolve(message?.method ?? 'connection lost'));
  });

  await world.kill();
  const after = await world.start();

  expect(await cancelled).toBe('CANCEL');
  const [record] = await after.endedCalls();
  expect(record).toMatchObject({ status: 'failed', endReason: 'error' });
});

test('after kill -9 while an outgoing call rings, one that is answered meanwhile has BYE from the next start', async () => {
  const world = await openWorld();
  const call = await ringThePhone(world);

  await world.kill();
  const answered = await call.answer();
  await world.start();

  expect((await answered.ended).cause).toBe('remote-bye');
});

test('after kill -9 while callers wait to be answered, the next start refuses each of them', async () => {
  const freeswitch = new FreeSwitchDouble();
  await freeswitch.start();
  onTestFinished(() => freeswitch.stop());
  // A call is in set-up for seconds: FreeSWITCH has its legs, and does not join them.
  freeswitch.doesBridge = false;
  const world = await openWorld({
    MEDIA: 'freeswitch',
    FREESWITCH_HOST: `127.0.0.1:${freeswitch.events.port}`,
    FREESWITCH_SECRET: EVENT_SECRET,
  });
  const server = await world.start();
  await server.createAgent();
  const callers = new Phone();
  await callers.start();
  onTestFinished(() => callers.stop());

  const dialled = await Promise.all(Array.from({ length: CALLERS }, () => callers.dial(world.uri)));
  const ends = dialled.map(({ answered }) =>
    answered.then(
      () => 'answered',
      (error: unknown) => (error instanceof PhoneError ? error.sipStatus : error),
    ),
  );
  await expect.poll(() => freeswitch.legs, { timeout: 10_000 }).toHaveLength(2 * CALLERS);
  await world.kill();
  await world.start();
  const late = new Promise((resolve) => {
    setTimeout(() => resolve('a caller has no final answer'), SETTLED_MS_MAX).unref();
  });

  expect(await Promise.race([Promise.all(ends), late])).toEqual(Array(CALLERS).fill(503));
});
