/** What happens to calls when one of the three processes is killed: drachtio-server, FreeSWITCH, or ours. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Phone, PhoneError, type RingingCall } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
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
  let agentId: string;

  /** Behind the trunk. */
  const callee = new Phone();

  const start = () => {
    const SIP_TRUNKS = join(dataDir, 'trunks.json');
    return startServer({ dataDir, environment: { ...world.environment, SIP_TRUNKS } });
  };
  const uri = () => `sip:${NUMBER}@127.0.0.1:${world.sipPort}`;

  beforeAll(async () => {
    if (programs === undefined) return;
    world = await startRealWorld(programs);
    dataDir = mkdtempSync(join(tmpdir(), 'offhook-real-data-'));
    await callee.start();
    const trunk = { name: 'callee', proxy: callee.hostPort(), numbers: [NUMBER] };
    const trunks = [{ ...trunk, allowedSources: ['127.0.0.1'] }];
    writeFileSync(join(dataDir, 'trunks.json'), JSON.stringify(trunks));
    server = await (await start()).ready();
    agentId = await server.createAgent({ greeting: 'Hello. '.repeat(60) });
  });
  afterAll(async () => {
    await callee.stop();
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

  /** How many unanswered calls the phone server has saved: it hears of its INVITE after the callee. */
  function savedInvites(): unknown {
    const database = new Sqlite(join(dataDir, 'offhook.db'), { readonly: true });
    const count = database.prepare('select count(*) from open_dialogs where invite is not null');
    const saved = count.pluck().get();
    database.close();
    return saved;
  }

  /** Has the callee's telephone rung. */
  async function ringTheCallee(): Promise<RingingCall> {
    // Those of the test before have been ended.
    await expect.poll(savedInvites, { timeout: ZOMBIE_MS_MAX }).toBe(0);
    const ringing = new Promise<RingingCall>((resolve) => callee.onRinging(resolve));
    await server.api('POST', '/api/calls/outbound', { agentId, to: '+12025550199' });
    const call = await ringing;
    call.ring();
    await expect.poll(savedInvites, { timeout: 10_000 }).toBe(1);
    return call;
  }

  async function killAndStart(): Promise<void> {
    server.kill('SIGKILL');
    await server.exited;
    server = await start();
    await server.ready();
  }

  test('an outgoing call that rings when the phone server is killed is cancelled by the next one', async () => {
    const call = await ringTheCallee();
    const cancelled = new Promise<string>((resolve) => {
      call.invite.on('cancelled', (message) => resolve(message?.method ?? 'connection lost'));
    });

    const killedMs = performance.now();
    await killAndStart();

    expect(await cancelled).toBe('CANCEL');
    say(
      `our process killed: a ringing telephone had CANCEL after ${Math.round(performance.now() - killedMs)} ms`,
    );
    await emptyAfter(killedMs);
  });

  test('an outgoing call that is answered while no phone server is there has ACK and BYE from the next one', async () => {
    const call = await ringTheCallee();

    const killedMs = performance.now();
    server.kill('SIGKILL');
    await server.exited;
    const answered = await call.answer();
    const acknowledged = new Promise((resolve) => answered.dialog.on('ack', resolve));
    server = await start();
    await Promise.all([endOf([answered], killedMs), acknowledged]);

    expect((await answered.ended).cause).toBe('remote-bye');
    await server.ready();
  });

  test('callers in set-up when the phone server is killed are refused by the next one', async () => {
    const phone = new Phone();
    await phone.start();
    onTestFinished(() => phone.stop());
    await expect.poll(roomForCalls, { timeout: ROOM_MS_MAX }).toBe('takes new calls');

    // Nothing comes of a call while FreeSWITCH hangs.
    world.freeswitch.hang();
    const dialled = await Promise.all([1, 2, 3].map(() => phone.dial(uri())));
    const ends = dialled.map(({ answered }) =>
      answered.then(
        () => 'answered',
        (error: unknown) => (error instanceof PhoneError ? error.sipStatus : error),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const killedMs = performance.now();
    server.kill('SIGKILL');
    await server.exited;
    world.freeswitch.goOn();
    server = await start();
    const told = await Promise.all(ends);
    const toldMs = Math.round(performance.now() - killedMs);

    say(`our process killed: callers in set-up had a final answer after ${toldMs} ms`);
    expect(told).toEqual([503, 503, 503]);
    expect(toldMs).toBeLessThan(ZOMBIE_MS_MAX);
    await server.ready();
    await emptyAfter(killedMs);
  });

  test('a drachtio-server that hangs is named, and takes calls again when it goes on', async () => {
    const stateOfSip = async () => {
      const response = await fetch(`${server.baseUrl}/readyz`);
      const { carriers } = (await response.json()) as {
        readonly carriers: readonly { readonly name: string; readonly state: string }[];
      };
      return `${response.status} ${carriers.find(({ name }) => name.startsWith('sip by'))?.state}`;
    };

    const hungMs = performance.now();
    world.drachtio.hang();
    await expect
      .poll(stateOfSip, { timeout: ZOMBIE_MS_MAX })
      .toMatch(/^503 the server at .* hangs/);
    const namedMs = Math.round(performance.now() - hungMs);
    world.drachtio.goOn();
    await server.ready();
    const [call] = await callIn(1);
    await call?.hangUp();

    say(`drachtio hung: named after ${namedMs} ms`);
    expect(namedMs).toBeLessThan(8_000);
  });
});
