/** Row 21, startup: from the start of the process until `/readyz` answers, against Node that runs nothing. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  type Row,
} from './lib/harness.ts';

/** As often as it costs the machine next to nothing: whoever asks less often takes his own waiting for the server's. */
const ASK_MS = 10;

interface Start {
  readonly wallMs: number;
  /** Of the process and its threads, without its children; not told of Node that runs nothing. */
  readonly cpuMs?: number;
}

/** `npm run bench -- startup [--pairs 7] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'startup-bench-'));
  const pairs = numberArg(args, 'pairs', 7);
  try {
    let starts = 0;
    const first = await pairedRuns({
      pairs,
      a: () => {
        starts += 1;
        return start(join(folder, `compiled-${starts}`));
      },
      b: startNothing,
    });
    const compiled = join(folder, 'compiled');
    await start(compiled);
    const later = await pairedRuns({ pairs, a: () => start(compiled), b: startNothing });
    console.log(markdownTable([rowOf('the first', first), rowOf('any other', later)]));
    checkTargets(args, [
      {
        name: 'ms over bare Node, any start but the first',
        value: overMs(later),
        limit: 400,
        tolerance: 0.1,
      },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Models are loaded, carriers are asked for, and the store is open when it is ready. */
async function start(compiledFolder: string): Promise<Start> {
  const startedMs = performance.now();
  const server = await startServer({ environment: { NODE_COMPILE_CACHE: compiledFolder } });
  try {
    await server.ready(ASK_MS);
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
  return (
    middleOf(pairs, 'a', ({ wallMs }) => wallMs) - middleOf(pairs, 'b', ({ wallMs }) => wallMs)
  );
}

function rowOf(name: string, pairs: readonly Pair<Start>[]): Row {
  for (const pair of pairs) printJson({ bench: 'startup', start: name, ...pair });
  return {
    start: name,
    'ours, ms': middleOf(pairs, 'a', ({ wallMs }) => wallMs),
    'ours, CPU ms': middleOf(pairs, 'a', ({ cpuMs = Number.NaN }) => cpuMs),
    'bare Node, ms': middleOf(pairs, 'b', ({ wallMs }) => wallMs),
    'over it, ms': overMs(pairs),
    load: Math.max(...pairs.map(({ machine }) => machine.load)),
  };
}

if (import.meta.main) await run(process.argv.slice(2));
