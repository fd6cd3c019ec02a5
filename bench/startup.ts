/** Row 21, startup: from the start of the process until `/readyz` answers, against Node that runs nothing. */
import { execFile, execFileSync } from 'node:child_process';
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
import { START_FLAGS } from './lib/start-flags.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILT = 'dist/server/main.js';

/** Short, so that the wait between two polls is not counted as the server's. */
const POLL_MS = 10;

interface Start {
  readonly wallMs: number;
  /** Of the process and its threads, without its children; not measured of bare Node. */
  readonly cpuMs?: number;
}

/** `npm run bench -- startup [--pairs 7] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const pairs = numberArg(args, 'pairs', 7);
  execFileSync(process.execPath, ['src/cli/build-server.ts'], { cwd: ROOT, stdio: 'inherit' });
  const built = await pairedRuns({ pairs, a: () => start(BUILT), b: startNothing });
  const source = await pairedRuns({ pairs, a: () => start('src/main.ts'), b: startNothing });
  console.log(markdownTable([rowOf('built, as npm start', built), rowOf('from source', source)]));
  checkTargets(args, [
    { name: 'ms over bare Node, built', value: overMs(built), limit: 500, tolerance: 0.1 },
  ]);
}

/** Models are loaded, carriers are registered with, and the store is open when it is ready. */
async function start(program: string): Promise<Start> {
  const startedMs = performance.now();
  // An empty variable is none: what Node compiles is not kept.
  const environment = { NODE_COMPILE_CACHE: '' };
  const server = await startServer({ program, nodeOptions: START_FLAGS, environment });
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
