/**
 * Many calls at once through a real drachtio-server and a real FreeSWITCH: no packet may be missing at the engine.
 *
 * `REAL_CALLS` (100) and `REAL_SECONDS` (60) set its size.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from 'vitest';
import type { Leg } from '../../src/telephony/carrier.ts';
import { OURS } from '../telephony/plane.ts';
import { freeSwitchPlane } from '../telephony/real-plane.ts';
import { findPrograms, startRealWorld } from './real-processes.ts';

const { REAL_CALLS = '100', REAL_SECONDS = '60' } = env;
const CALLS = Number(REAL_CALLS);
const SECONDS = Number(REAL_SECONDS);
const PACKETS_PER_SECOND = 50;

const programs = findPrograms('load on real servers');

/** Processor time of a process so far, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Callers that stay until they are hung up on. Resolves with their process's exit status. */
function startCallers(sipPort: number): Promise<number | null> {
  const uri = `sip:${OURS}@127.0.0.1:${sipPort}`;
  const script = join(import.meta.dirname, 'callers.ts');
  const child = spawn(process.execPath, [script, uri, String(CALLS)], { stdio: 'ignore' });
  return new Promise((resolve) => child.once('exit', resolve));
}

describe.skipIf(programs === undefined)('real servers under load', () => {
  test(`${CALLS} calls for ${SECONDS} s lose nothing`, {
    timeout: SECONDS * 1000 + 120_000,
  }, async () => {
    if (programs === undefined) return;
    const world = await startRealWorld(programs);
    const [, drachtioPort] = (world.environment.DRACHTIO_HOST ?? '').split(':');
    const [, eventPort] = (world.environment.FREESWITCH_HOST ?? '').split(':');
    const secret = world.environment.DRACHTIO_SECRET ?? '';
    const at = (port?: string) => [{ host: '127.0.0.1', port: Number(port), weight: 1 }];
    const plane = await freeSwitchPlane({
      ...{ drachtio: at(drachtioPort), freeswitch: at(eventPort) },
      ...{ drachtioSecret: secret, freeswitchSecret: secret },
    })([]);
    const left = startCallers(world.sipPort);
    const legs: Leg[] = [];
    const setupMs: number[] = [];
    while (legs.length < CALLS) {
      const call = await plane.rings.next();
      const rangMs = performance.now();
      void call.answer().then((leg) => {
        setupMs.push(performance.now() - rangMs);
        legs.push(leg);
      });
      await new Promise((resolve) => setImmediate(resolve));
      if (plane.rings.count === CALLS) {
        await expect.poll(() => legs.length, { timeout: 20_000 }).toBe(CALLS);
      }
    }

    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const pids = {
      drachtio: world.drachtio.pid,
      freeswitch: world.freeswitch.pid,
      node: process.pid,
    };
    const cpuBefore = Object.values(pids).map(cpuSeconds);
    const statsOf = () => Promise.all(legs.map(({ audio }) => audio.stats()));
    const before = await statsOf();
    const startedMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    const after = await statsOf();
    const seconds = (performance.now() - startedMs) / 1000;
    const cpu = Object.values(pids).map(
      (pid, at) => (cpuSeconds(pid) - (cpuBefore[at] ?? 0)) / seconds,
    );
    await Promise.all(legs.map((leg) => leg.hangUp()));
    const status = await left;
    // FreeSWITCH counts from a table that lags behind.
    await expect.poll(() => world.channels(), { timeout: 10_000, interval: 250 }).toBe(0);
    await plane.stop();
    await world.stop();

    const sum = (pick: (index: number) => number) =>
      legs.reduce((all, _, index) => all + pick(index), 0);
    const received = sum(
      (i) => (after[i]?.packetsReceived ?? 0) - (before[i]?.packetsReceived ?? 0),
    );
    const lost = sum((i) => (after[i]?.packetsLost ?? 0) - (before[i]?.packetsLost ?? 0));
    const share = cpu.map((value) => `${(value * 100).toFixed(0)} %`);
    const [middle = 0] = setupMs.sort((a, b) => a - b).slice(CALLS >> 1);
    process.stdout.write(
      `${CALLS} calls, ${seconds.toFixed(0)} s: ${received} packets at the engine, ${lost} lost; ` +
        `set-up median ${middle.toFixed(0)} ms, slowest ${(setupMs.at(-1) ?? 0).toFixed(0)} ms; ` +
        `of a core: drachtio ${share[0]}, FreeSWITCH ${share[1]}, ours ${share[2]}\n`,
    );
    expect(status).toBe(0);
    expect(lost).toBe(0);
    expect(received).toBeGreaterThan(CALLS * seconds * PACKETS_PER_SECOND * 0.99);
  });
});
