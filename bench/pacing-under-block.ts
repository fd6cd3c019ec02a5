/** Row 6, pacing-under-block: packets of our media thread while the main thread is busy, against media on the main thread. */
import { fileURLToPath } from 'node:url';
import {
  checkTargets,
  markdownTable,
  middleOf,
  numberArg,
  type Pair,
  printJson,
  type Row,
  ratios,
  type Target,
} from './lib/harness.ts';
import type { Command } from './lib/line-process.ts';
import { mayRunRealTime } from './lib/real-time.ts';
import { callerCommand, nodeTool, pairedRtpRuns, type RtpRun, runRtp } from './lib/rtp-run.ts';

const BLOCK = fileURLToPath(new URL('tools/block-main.ts', import.meta.url));
const RATIO_MAX = 0.1;
const REAL_TIME_P99_MS_MAX = 2;

type Priority = 'rt' | 'plain';

/** `npm run bench -- pacing-under-block [--calls 100] [--pairs 3] [--seconds 3] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  const targets: Target[] = [];
  if (!mayRunRealTime()) console.log('real-time priority is not permitted here (CAP_SYS_NICE)');
  const priorities: readonly Priority[] = mayRunRealTime() ? ['rt', 'plain'] : ['plain'];
  for (const priority of priorities) {
    const pairs = await hold(priority, args);
    rows.push(rowOf(priority, pairs));
    targets.push(...targetsOf(priority, pairs));
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

async function hold(priority: Priority, args: readonly string[]): Promise<readonly Pair<RtpRun>[]> {
  const load = { calls: numberArg(args, 'calls', 100), seconds: numberArg(args, 'seconds', 3) };
  const caller = callerCommand();
  const pairs = await pairedRtpRuns({
    pairs: numberArg(args, 'pairs', 3),
    a: () => runRtp({ ...load, caller, server: blocked('rtp-engine'), serverArgs: [priority] }),
    b: () => runRtp({ ...load, caller, server: blocked('rtp-main-thread') }),
  });
  for (const pair of pairs) printJson({ bench: 'pacing-under-block', priority, ...pair });
  return pairs;
}

function blocked(tool: string): Command {
  const [node, ...rest] = nodeTool(tool);
  return [node, '--import', BLOCK, ...rest];
}

function rowOf(priority: Priority, pairs: readonly Pair<RtpRun>[]): Row {
  const ratio = ratios(pairs, ({ p99 }) => p99);
  return {
    'media thread': priority === 'rt' ? 'real-time' : 'plain',
    'ours, p50 ms': middleOf(pairs, 'a', ({ p50 }) => p50),
    'ours, p99 ms': middleOf(pairs, 'a', ({ p99 }) => p99),
    'on the main thread, p99 ms': middleOf(pairs, 'b', ({ p99 }) => p99),
    ratio: ratio.median,
    'least to greatest': `${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)}`,
    load: Math.max(...pairs.map(({ machine }) => machine.load)),
  };
}

/** Judged with real-time priority alone: without it a thread waits its turn behind the very thread that is busy. */
function targetsOf(priority: Priority, pairs: readonly Pair<RtpRun>[]): readonly Target[] {
  if (priority === 'plain') return [];
  const ratio = ratios(pairs, ({ p99 }) => p99).median;
  const p99 = middleOf(pairs, 'a', (run) => run.p99);
  return [
    { name: 'p99 ratio, real-time', value: ratio, limit: RATIO_MAX, tolerance: 0.1 },
    { name: 'p99 ms, real-time', value: p99, limit: REAL_TIME_P99_MS_MAX, tolerance: 0.1 },
  ];
}

if (import.meta.main) await run(process.argv.slice(2));
