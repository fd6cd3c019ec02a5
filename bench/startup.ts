/** Row 21, startup: from the start of the process until `/readyz` answers, against Node that runs nothing. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startServer } from '../test/support/server.ts';
import {
  checkTargets,
  cpuSecondsOf,
  markdownTable,
  middleOf,
  numberArg,
  type Pair,
  pairedRuns,
  printJson,
} from './lib/harness.ts';

/** Short, so that the wait between two polls is not counted as the server's. */
const POLL_MS = 10;

interface Start {
  readonly wallMs: number;
  /** Of the process and its threads, without its children; not measured of bare Node. */
  readonly cpuMs?: number;
}

/** `npm run bench -- startup [--pairs 7] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const pairs = await pairedRuns({ pairs: numberArg(args, 'pairs', 7), a: start, b: startNothing });
  for (const pair of pairs) printJson({ bench: 'startup', ...pair });
  const [oursMs, bareMs] = [medianMs(pairs, 'a'), medianMs(pairs, 'b')];
  const row = {
    'ours, ms': oursMs,
    'ours, CPU ms': middleOf(pairs, 'a', ({ cpuMs = Number.NaN }) => cpuMs),
    'bare Node, ms': bareMs,
    'over it, ms': oursMs - bareMs,
    load: Math.max(...pairs.map(({ machine }) => machine.load)),
  };
  console.log(markdownTable([row]));
  checkTargets(args, [
    { name: 'ms over bare Node', value: oursMs - bareMs, limit: 500, tolerance: 0.1 },
  ]);
}

/** Models are loaded, carriers are registered with, and the store is open when it is ready. No compiled code is kept. */
async function start(): Promise<Start> {
  const startedMs = performance.now();
  const server = await startServer();
  try {
    await server.ready(POLL_MS);
    return { wallMs: performance.now() - startedMs, cpuMs: cpuSecondsOf(server.pid) * 1000 };
  } finally {
    await server.stop();
  }
}

async function startNothing(): Promise<Start> {
  const startedMs = performance.now();
  await promisify(execFile)(process.execPath, ['-e', '0']);
  return { wallMs: performance.now() - startedMs };
}

function medianMs(pairs: readonly Pair<Start>[], side: 'a' | 'b'): number {
  return middleOf(pairs, side, ({ wallMs }) => wallMs);
}

if (import.meta.main) await run(process.argv.slice(2));
