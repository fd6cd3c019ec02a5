/**
 * Row 19, soak: what a server keeps of calls that are over.
 *
 * Whole calls, made by sipp, of a whole server with its usual settings: INVITE, the greeting's first words, BYE; records,
 * events, webhooks to a customer, and the recording, which every call has. Memory is taken after the first calls and
 * after the last, each time when the timers of SIP (32 s) and the ports of calls that are over (30 s) are gone. What
 * counts is what is resident when all threads have collected their garbage (what they share goes back only when all
 * have) and the allocator has given back what is free. What is resident before that, and of it what the allocator keeps, is
 * shown as well: both rise to a limit.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  checkTargets,
  markdownTable,
  numberArg,
  observe,
  printJson,
  type Row,
  textArg,
} from './lib/harness.ts';
import { isInstalled } from './lib/native-tool.ts';
import type { Holdings } from './lib/process-memory.ts';
import { runSipp } from './lib/sipp-run.ts';
import { NUMBER, SoakServer } from './lib/soak-server.ts';

/** Until then a young process still grows: compiled code, pools, the database's page cache. */
const WARM_UP_CALLS = 2000;

/** Only then are there as many calls that are over, and wait for their timers, as there will ever be. */
const WARM_UP_S = 36;

const REST_MS = 34_000;

/** A full collection holds the server up for so long that admission control refuses calls for some seconds. */
const RECOVERY_MS = 8000;

/** How long the caller listens to the greeting before he hangs up. */
const LISTENS_MS = 200;

/** Of one run of sipp, so that its traces stay small. */
const CALLS_MAX = 1000;

/** `call.started` and `call.ended`. */
const EVENTS_PER_CALL = 2;

const SCENARIO = ['-sf', fileURLToPath(new URL('./tools/sipp-call.xml', import.meta.url))];

/**
 * `npm run bench -- soak [--calls 20000] [--rate 100] [--snapshots FOLDER] [--gate]`; with `--snapshots`, what is on the
 * heap is written there at both times, and resident memory says nothing any more.
 */
export async function run(args: readonly string[]): Promise<void> {
  if (!isInstalled('sipp')) {
    console.log('peer missing: sipp (Debian: sip-tester); no caller without it');
    return;
  }
  const calls = numberArg(args, 'calls', 20_000);
  const rate = numberArg(args, 'rate', 100);
  const folder = textArg(args, 'snapshots');
  const server = await SoakServer.start();
  try {
    const warm = Math.min(Math.max(WARM_UP_CALLS, rate * WARM_UP_S), Math.floor(calls / 2));
    const { result, machine } = await observe(async () => {
      const failedFirst = await callAndRest(server, warm, rate);
      const before = await take(server, folder, 'before');
      await wait(RECOVERY_MS);
      const failedLater = await callAndRest(server, calls - warm, rate);
      const after = await take(server, folder, 'after');
      return { before, after, failedFirst, failed: failedFirst + failedLater };
    });
    const lostRows = calls - (await server.callsOnRecord());
    const lostEvents = calls * EVENTS_PER_CALL - server.eventsTold;
    const measured = calls - warm;
    printJson({ bench: 'soak', calls, rate, ...result, lostRows, lostEvents, machine });
    report(args, { ...result, calls: measured, lostRows, lostEvents });
  } finally {
    await server.stop();
  }
}

/** @returns calls that failed. */
async function callAndRest(server: SoakServer, calls: number, rate: number): Promise<number> {
  let failed = 0;
  for (let made = 0; made < calls; made += CALLS_MAX) {
    const some = Math.min(CALLS_MAX, calls - made);
    const { successful } = await runSipp({
      port: server.sipPort,
      scenario: SCENARIO,
      calls: some,
      callsPerSecond: rate,
      extra: ['-s', NUMBER, '-d', String(LISTENS_MS)],
    });
    failed += some - successful;
    printJson({ bench: 'soak', made: made + some, residentKb: server.residentKb });
  }
  await wait(REST_MS);
  return failed;
}

async function take(
  server: SoakServer,
  folder: string | undefined,
  when: string,
): Promise<Holdings> {
  const holdings = await server.holdings();
  if (folder !== undefined) await server.snapshot(join(folder, `${when}.heapsnapshot`));
  return holdings;
}

interface Soaked {
  /** Between the two times. */
  readonly calls: number;
  readonly before: Holdings;
  readonly after: Holdings;
  readonly failed: number;
  readonly lostRows: number;
  readonly lostEvents: number;
}

function report(args: readonly string[], soaked: Soaked): void {
  const { calls, before, after, failed, lostRows, lostEvents } = soaked;
  const rowOf = (when: string, holdings: Holdings): Row => ({
    when,
    'resident MB': holdings.residentKb / 1024,
    'held MB': holdings.heldKb / 1024,
    'heap MB': holdings.heapKb / 1024,
    'external MB': holdings.externalKb / 1024,
    'other threads MB': holdings.workersKb / 1024,
    'malloc MB': holdings.mallocUsedKb / 1024,
    'malloc kept MB': holdings.mallocFreeKb / 1024,
    'files MB': holdings.residentFileKb / 1024,
    'file descriptors': holdings.descriptors,
    threads: holdings.threads,
  });
  const keptKb = (pick: (holdings: Holdings) => number) => (pick(after) - pick(before)) / calls;
  console.log(markdownTable([rowOf('before', before), rowOf(`${calls} calls later`, after)]));
  const none = { limit: 0, tolerance: 0 };
  checkTargets(args, [
    {
      name: 'KB of resident memory held per call',
      value: keptKb(({ heldKb }) => heldKb),
      limit: 1,
      tolerance: 0.1,
    },
    {
      name: 'KB on the heap or held by it kept per call',
      value: keptKb(({ heapKb, externalKb }) => heapKb + externalKb),
      limit: 1,
      tolerance: 0.1,
    },
    { name: 'calls failed', value: failed, ...none },
    { name: 'calls not on record', value: lostRows, ...none },
    { name: 'events that no customer was told', value: lostEvents, ...none },
    {
      name: 'file descriptors more than before',
      value: after.descriptors - before.descriptors,
      ...none,
    },
    { name: 'threads more than before', value: after.threads - before.threads, ...none },
  ]);
}

if (import.meta.main) await run(process.argv.slice(2));
