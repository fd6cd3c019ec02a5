/**
 * Row 2, call-loop-spec: what thinking ahead saves, what it costs, and that it is never heard where it was wrong.
 *
 * The whole server with stubs for models, as in `call-loop`, and the same callers; but every fifth turn has a pause of
 * 120 ms in its middle, in which the server begins an answer to half of what is said. The peer is the same build with
 * speculation off. A turn ends after 200 ms of silence; a voice is known to have stopped after 60 ms of them, so 140 ms
 * are there to be used. Models take 80 + 120 + 60 ms (hearing, thinking, voicing), and in a second step 40 + 60 + 40 ms,
 * which fit into that time whole. A reply is **wrong** when it answers half a turn, or comes in the middle of one.
 */
import {
  checkTargets,
  markdownTable,
  numberArg,
  type Pair,
  pairedRuns,
  percentile,
  printJson,
  type Row,
  type Target,
} from './lib/harness.ts';
import { nominalMs, STUB_TIMES, type StubTimes } from './lib/stub-times.ts';
import { TalkServer } from './lib/talk-server.ts';
import { runServer, type TurnPlan, type TurnRun, turnCaller } from './lib/turn-run.ts';

const REPLY_MS = 400;
const CALLER_PERCENT_MAX = 70;

/** As in `call-loop`: more, and the figures show the machine. */
const WAIT_PERCENT_MAX = 10;

/** After so much quiet a voice has stopped; nothing can be begun before. */
const QUIET_PROOF_MS = 60;

interface Chain {
  readonly name: string;
  readonly times: StubTimes;
}

const CHAINS: readonly Chain[] = [
  { name: 'usual models', times: STUB_TIMES },
  { name: 'quick models', times: { silence: 200, hearing: 40, thinking: 60, voicing: 40 } },
];

interface Measured {
  readonly chain: Chain;
  readonly pairs: readonly Pair<TurnRun>[];
  readonly hits: number;
  readonly misses: number;
}

/** `npm run bench -- call-loop-spec [--calls 20] [--pairs 3] [--seconds 8] [--gate]` */
export async function run(args: readonly string[]): Promise<void> {
  const plan: TurnPlan = {
    caller: turnCaller(),
    calls: numberArg(args, 'calls', 20),
    seconds: numberArg(args, 'seconds', 8),
    behaviour: 'resumes',
  };
  const results: Measured[] = [];
  for (const chain of CHAINS) {
    results.push(await measure(chain, plan, numberArg(args, 'pairs', 3)));
  }
  console.log(markdownTable(results.flatMap(rowsOf)));
  checkTargets(args, results.flatMap(targetsOf));
}

async function measure(chain: Chain, plan: TurnPlan, pairCount: number): Promise<Measured> {
  const common = { replyMs: REPLY_MS, times: chain.times };
  const ahead = await TalkServer.start({ ...common, maySpeculate: true });
  const after = await TalkServer.start({ ...common, maySpeculate: false });
  try {
    const warm = { ...plan, seconds: 2 };
    for (const server of [ahead, after]) await runServer(server, warm);
    const before = await ahead.speculations();
    const pairs = await pairedRuns({
      pairs: pairCount,
      a: () => runServer(ahead, plan),
      b: () => runServer(after, plan),
    });
    const now = await ahead.speculations();
    const counts = { hits: now.hits - before.hits, misses: now.misses - before.misses };
    for (const { a, b, machine, isVoid } of pairs) {
      const runs = { ahead: figures([a]), after: figures([b]) };
      printJson({ bench: 'call-loop-spec', chain: chain.name, ...runs, machine, isVoid });
    }
    return { chain, pairs, ...counts };
  } finally {
    await Promise.all([ahead.stop(), after.stop()]);
  }
}

function figures(runs: readonly TurnRun[]) {
  const waitsMs = runs.flatMap(({ replies }) => replies);
  const sum = (pick: (run: TurnRun) => number) => runs.reduce((total, one) => total + pick(one), 0);
  const most = (pick: (run: TurnRun) => number) => Math.max(...runs.map(pick));
  return {
    turns: waitsMs.length,
    resumed: sum(({ resumed }) => resumed),
    wrong: sum(({ wrong }) => wrong),
    missed: sum(({ missed }) => missed),
    p50: percentile(waitsMs, 50),
    p95: percentile(waitsMs, 95),
    p99: percentile(waitsMs, 99),
    cpuPercentPerCall: most(({ cpuPercentPerCall }) => cpuPercentPerCall),
    waitPercent: most(({ waitPercent }) => waitPercent),
    callerCpuPercent: most(({ callerCpuPercent }) => callerCpuPercent),
  };
}

function rowsOf({ chain, pairs, hits, misses }: Measured): Row[] {
  const row = (speculation: string, runs: readonly TurnRun[], begun: string) => {
    const { turns, resumed, wrong, missed, p50, p95, p99, cpuPercentPerCall } = figures(runs);
    return {
      ...{ models: chain.name, speculation, turns, resumed, wrong, missed },
      ...{ 'wait p50 ms': p50, 'p95 ms': p95, 'p99 ms': p99 },
      ...{ 'begun ahead: used, wasted': begun },
      'CPU, % of a core a call': cpuPercentPerCall,
    };
  };
  return [
    row(
      'on',
      pairs.map(({ a }) => a),
      `${hits}, ${misses}`,
    ),
    row(
      'off',
      pairs.map(({ b }) => b),
      '-',
    ),
  ];
}

/** What of the models' time can be hidden: all hearing and 70 % of the rest, up to the end of the turn. */
function savingDueMs({ silence, hearing, thinking, voicing }: StubTimes): number {
  return Math.min(hearing + 0.7 * (thinking + voicing), silence - QUIET_PROOF_MS);
}

function targetsOf({ chain, pairs }: Measured): Target[] {
  const { times } = chain;
  const ours = figures(pairs.map(({ a }) => a));
  const peer = figures(pairs.map(({ b }) => b));
  const isHidden = nominalMs(times) - times.silence <= times.silence - QUIET_PROOF_MS;
  const target = (what: string, value: number, limit: number, tolerance = 0) => {
    return { name: `${chain.name}: ${what}`, value, limit, tolerance };
  };
  return [
    target('wrong replies', ours.wrong, 0),
    target('turns without a reply', ours.missed + peer.missed, 0),
    target(
      'ms that could be saved, over those saved',
      savingDueMs(times) / (peer.p50 - ours.p50),
      1,
      0.05,
    ),
    ...(isHidden
      ? [
          target('whole wait p50, ms', ours.p50, times.silence + 10),
          target('whole wait p99, ms', ours.p99, 230),
        ]
      : []),
    target(
      'time that the server waited for a core, %',
      Math.max(ours.waitPercent, peer.waitPercent),
      WAIT_PERCENT_MAX,
    ),
    target(
      'CPU of the callers, % of a core',
      Math.max(ours.callerCpuPercent, peer.callerCpuPercent),
      CALLER_PERCENT_MAX,
    ),
  ];
}
