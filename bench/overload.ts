/** Row 20, overload: half as many calls again as the server may hold ring; who is refused, and do the others notice? */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Phone } from '../examples/phone/phone.ts';
import type { PhoneCall } from '../examples/phone/phone-call.ts';
import { startServer } from '../test/support/server/server.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  percentile,
  printJson,
  ratios,
} from './lib/harness.ts';
import { nodeTool } from './lib/rtp-run.ts';

const NUMBER = '+12025550123';
/** Calls that ring at the same time. */
const RINGING = 5;

interface LoadRun {
  /** Between packets of a call, of all admitted calls. */
  readonly gapMsP99: number;
  /** Calls that rang while the server was full. */
  readonly offered: number;
  /** Of those, answered with 503 and Retry-After. */
  readonly shed: number;
}

/** `npm run bench -- overload [--calls 20] [--seconds 3] [--pairs 5] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const calls = numberArg(args, 'calls', 20);
  const seconds = numberArg(args, 'seconds', 3);
  const server = await startServer({ environment: { MAX_CALLS: String(calls) } });
  const phone = new Phone();
  try {
    await server.ready();
    await server.createAgent({ phoneNumber: NUMBER, greeting: 'Hello, and welcome. '.repeat(90) });
    await phone.start();
    const uri = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
    const admitted = await fill(uri, phone, calls);
    const pairs = await pairedRuns({
      pairs: numberArg(args, 'pairs', 5),
      a: () => load(uri, { admitted, seconds, extra: calls / 2 }),
      b: () => load(uri, { admitted, seconds, extra: 0 }),
    });
    for (const call of admitted) await call.hangUp();

    const ratio = ratios(pairs, ({ gapMsP99 }) => gapMsP99);
    const offered = pairs.reduce((sum, { a }) => sum + a.offered, 0);
    const shed = pairs.reduce((sum, { a }) => sum + a.shed, 0);
    const row = {
      calls,
      admitted: admitted.length,
      offered,
      shed,
      'gap p99 at 150 %, ms': percentile(
        pairs.map(({ a }) => a.gapMsP99),
        50,
      ),
      'gap p99 at 100 %, ms': percentile(
        pairs.map(({ b }) => b.gapMsP99),
        50,
      ),
      ratio: ratio.median,
      'ratio min': ratio.min,
      'ratio max': ratio.max,
    };
    console.log(markdownTable([row]));
    printJson({ bench: 'overload', row });
    const missed = offered - shed + Math.abs(admitted.length - calls);
    checkTargets(args, [
      { name: 'calls neither held nor shed', value: missed, limit: 0, tolerance: 0 },
      { name: 'gap p99, 150 % over 100 %', value: ratio.median, limit: 1.1, tolerance: 0.05 },
    ]);
  } finally {
    await phone.stop();
    await server.stop();
  }
}

async function fill(uri: string, phone: Phone, calls: number): Promise<PhoneCall[]> {
  const admitted: PhoneCall[] = [];
  while (admitted.length < calls) {
    const some = Array.from({ length: Math.min(RINGING, calls - admitted.length) });
    admitted.push(...(await Promise.all(some.map(() => phone.call(uri)))));
  }
  await wait(1000);
  return admitted;
}

interface LoadPlan {
  readonly admitted: readonly PhoneCall[];
  readonly seconds: number;
  /** Further incoming calls per second. */
  readonly extra: number;
}

/** Measures the packets of the held calls while another process rings in with `extra` calls per second, or idles. */
async function load(uri: string, { admitted, seconds, extra }: LoadPlan): Promise<LoadRun> {
  const first = admitted.map(({ line }) => line.heard.length);
  const { offered, shed } = await ringExtra(uri, extra, seconds);
  const gaps = admitted.flatMap(({ line }, index) => {
    const heard = line.heard.slice(first[index]);
    return heard.slice(1).map(({ atMs }, at) => atMs - (heard[at]?.atMs ?? NaN));
  });
  return { gapMsP99: percentile(gaps, 99), offered, shed };
}

async function ringExtra(
  uri: string,
  callsPerSecond: number,
  seconds: number,
): Promise<{ readonly offered: number; readonly shed: number }> {
  const [program, ...args] = nodeTool('overload-ringer');
  const given = [...args, uri, String(callsPerSecond), String(seconds)];
  const { stdout } = await promisify(execFile)(program, given);
  return JSON.parse(stdout);
}
