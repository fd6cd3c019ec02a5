/** Row 21, startup: from the start of the process until `/readyz` answers, against Node that runs nothing. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from '../test/support/server/server.ts';
import {
  checkTargets,
  cpuSecondsOf,
  markdownTable,
  middleOf,
  numberArg,
  type Pair,
  pairedRuns,
  printJson,
  type Row,
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
  const folder = mkdtempSync(join(tmpdir(), 'startup-bench-'));
  const pairs = numberArg(args, 'pairs', 7);
  try {
    // An empty variable is none.
    const plain = await pairedRuns({ pairs, a: () => start(''), b: startNothing });
    await start(folder);
    const cached = await pairedRuns({ pairs, a: () => start(folder), b: startNothing });
    console.log(
      markdownTable([rowOf('nothing compiled', plain), rowOf('as npm start: cached', cached)]),
    );
    const name = 'ms over bare Node';
    checkTargets(args, [
      { name: `${name}, nothing compiled`, value: overMs(plain), limit: 500, tolerance: 0.1 },
      { name: `${name}, cached`, value: overMs(cached), limit: 500, tolerance: 0.1 },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Models are loaded, carriers are registered with, and the store is open when it is ready.
 *
 * @param compiledFolder cache of compiled code; empty for none.
 */
async function start(compiledFolder: string): Promise<Start> {
  const startedMs = performance.now();
  const server = await startServer({ environment: { NODE_COMPILE_CACHE: compiledFolder } });
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

function overMs(pairs: readonly Pair<Start>[]): number {
  return medianMs(pairs, 'a') - medianMs(pairs, 'b');
}

function medianMs(pairs: readonly Pair<Start>[], side: 'a' | 'b'): number {
  return middleOf(pairs, side, ({ wallMs }) => wallMs);
}

function rowOf(name: string, pairs: readonly Pair<Start>[]): Row {
  for (const pair of pairs) printJson({ bench: 'startup', start: name, ...pair });
  return {
    start: name,
    'ours, ms': medianMs(pairs, 'a'),
    'ours, CPU ms': middleOf(pairs, 'a', ({ cpuMs = Number.NaN }) => cpuMs),
    'bare Node, ms': medianMs(pairs, 'b'),
    'over it, ms': overMs(pairs),
    load: Math.max(...pairs.map(({ machine }) => machine.load)),
  };
}

if (import.meta.main) await run(process.argv.slice(2));
