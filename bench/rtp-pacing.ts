/** Row 5, rtp-pacing: how punctually packets leave, against a wheel in C and against `setInterval`. */
import {
  checkTargets,
  markdownTable,
  numberArg,
  type Pair,
  percentile,
  printJson,
  type Row,
  type Target,
} from './lib/harness.ts';
import type { Command } from './lib/line-process.ts';
import { buildNativeTool } from './lib/native-tool.ts';
import { mayRunRealTime } from './lib/real-time.ts';
import {
  callerCommand,
  engineCommand,
  nodeTool,
  pairedRtpRuns,
  type RtpRun,
  runRtp,
} from './lib/rtp-run.ts';

/** Plain scheduling is judged only below this load average: above it no process is scheduled on time. */
const LOAD_MAX = 4;
const DRIFT_MAX = 0.05;

interface Contest {
  readonly name: string;
  /** Of `rtp-engine`. */
  readonly priority: 'plain' | 'rt';
  readonly peer: Command;
  readonly p99Max: number;
  /** Whether a client watches the levels of all calls and listens to twenty of them. */
  readonly isWatched?: boolean;
}

/** `npm run bench -- rtp-pacing [--calls 200] [--pairs 3] [--seconds 2] [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const caller = callerCommand();
  const rows: Row[] = [];
  const targets: Target[] = [];
  for (const contest of findContests()) {
    const pairs = await hold(contest, { caller, args });
    rows.push(...rowsOf(contest, pairs));
    targets.push(...targetsOf(contest, pairs));
  }
  console.log(markdownTable(rows));
  checkTargets(args, targets);
}

function findContests(): readonly Contest[] {
  const wheel = buildNativeTool('rtp-wheel');
  const interval: Command = nodeTool('rtp-interval');
  const peer: Command = wheel === undefined ? interval : [wheel];
  const peerName = wheel === undefined ? 'setInterval' : 'C wheel';
  const contests: Contest[] = [];
  if (mayRunRealTime()) {
    const name = `real-time, against ${peerName}`;
    contests.push({ name, priority: 'rt', peer, p99Max: 1 });
  } else {
    console.log('real-time priority is not permitted here (CAP_SYS_NICE): plain runs only');
  }
  contests.push({ name: `plain, against ${peerName}`, priority: 'plain', peer, p99Max: 5 });
  if (wheel !== undefined) {
    const name = 'plain, against setInterval';
    contests.push({ name, priority: 'plain', peer: interval, p99Max: 5 });
  }
  const unwatched = engineCommand();
  const watched = { priority: 'plain', peer: unwatched, p99Max: 5, isWatched: true } as const;
  contests.push({ name: 'plain and watched, against not watched', ...watched });
  return contests;
}

function hold(
  contest: Contest,
  options: { readonly caller: Command; readonly args: readonly string[] },
): Promise<readonly Pair<RtpRun>[]> {
  const { caller, args } = options;
  const load = { calls: numberArg(args, 'calls', 200), seconds: numberArg(args, 'seconds', 2) };
  const server = engineCommand();
  const serverArgs = [contest.priority, ...(contest.isWatched === true ? ['watched'] : [])];
  return pairedRtpRuns({
    pairs: numberArg(args, 'pairs', 3),
    a: () => runRtp({ ...load, caller, server, serverArgs }),
    b: () => runRtp({ ...load, caller, server: contest.peer }),
  });
}

function rowsOf(contest: Contest, pairs: readonly Pair<RtpRun>[]): Row[] {
  for (const pair of pairs) printJson({ bench: 'rtp-pacing', contest: contest.name, ...pair });
  const load = Math.max(...pairs.map(({ machine }) => machine.load));
  return (['a', 'b'] as const).map((side) => ({
    contest: contest.name,
    who: side === 'a' ? 'ours' : 'peer',
    'p50 ms': middle(pairs, (pair) => pair[side].p50),
    'p99 ms': middle(pairs, (pair) => pair[side].p99),
    'p99.9 ms': middle(pairs, (pair) => pair[side].p999),
    'drift ms/s': middle(pairs, (pair) => pair[side].drift),
    'CPU %': middle(pairs, (pair) => pair[side].cpuPercentPerCall * pair[side].calls),
    load,
  }));
}

function targetsOf(contest: Contest, pairs: readonly Pair<RtpRun>[]): Target[] {
  const load = Math.max(...pairs.map(({ machine }) => machine.load));
  if (contest.priority === 'plain' && load > LOAD_MAX) {
    console.log(`not judged: ${contest.name}, at load ${load.toFixed(1)} (over ${LOAD_MAX})`);
    return [];
  }
  const p99 = middle(pairs, ({ a }) => a.p99);
  const drift = middle(pairs, ({ a }) => Math.abs(a.drift));
  return [
    { name: `p99 ms, ${contest.name}`, value: p99, limit: contest.p99Max, tolerance: 0.2 },
    { name: `drift ms/s, ${contest.name}`, value: drift, limit: DRIFT_MAX, tolerance: 0 },
  ];
}

/** Median over the pairs that count, or over all where none does. */
function middle(pairs: readonly Pair<RtpRun>[], pick: (pair: Pair<RtpRun>) => number): number {
  const counted = pairs.filter(({ isVoid }) => !isVoid);
  return percentile((counted.length > 0 ? counted : pairs).map(pick), 50);
}

if (import.meta.main) await run(process.argv.slice(2));
