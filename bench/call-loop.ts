/**
 * Row 1, call-loop: what the server itself adds to the time that a caller waits for a reply.
 *
 * Callers of a process of their own phone the whole server: SIP, RTP, conversation, database and recording are real,
 * the models are stubs of fixed times. A caller speaks for 600 ms and falls silent. **Overhead** is the time from the
 * moment when their last voiced packet leaves to the moment when the reply's first packet leaves, less the 460 ms that
 * are not ours: 200 ms of silence that end the turn, 80 ms of hearing, 120 ms of thinking, 60 ms of voicing. The bench sets
 * these waits itself, the silence after every kind of words too; what an agent waits as shipped is `responsiveness`. A packet
 * is sent when its 20 ms have been spoken, so those come off neither time. Peers: an ideal agent with the same waits
 * and nothing else, and the same agent on a fixed 20 ms grid, where a reply waits for the next beat.
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
  ratios,
  type Target,
} from './lib/harness.ts';
import type { Command } from './lib/line-process.ts';
import { NOMINAL_MS, STUB_TIMES } from './lib/stub-times.ts';
import { TalkServer } from './lib/talk-server.ts';
import {
  runAgent,
  runServer,
  type TurnPlan,
  type TurnRun,
  turnAgent,
  turnCaller,
} from './lib/turn-run.ts';

const REPLY_MS = 400;

/** As the rows tell it: silence that ends the turn, hearing, thinking, voicing. */
const WAITS_SET = Object.values(STUB_TIMES).join(' + ');
const CALLER_PERCENT_MAX = 70;

/**
 * Turns of calls in progress are measured: what is made for 200 calls that start within two seconds has left V8's
 * nursery by then, and those of the warm-up are on record. `--warm 2.5` shows what the first seconds are like.
 */
const SETTLED_S = 10;

/**
 * A main thread that waits longer for its core shows how busy the machine is, not how quick the server. On two cores
 * the callers, the media thread and the garbage collector alone make it wait for some 9 % of the time.
 */
const WAIT_PERCENT_MAX = 10;

interface Tools {
  readonly caller: Command;
  readonly agent: Command;
}

interface Step {
  readonly calls: number;
  readonly pairs: number;
  readonly seconds: number;
  readonly warmSeconds: number;
}

const STEPS: readonly Omit<Step, 'warmSeconds'>[] = [
  { calls: 200, pairs: 2, seconds: 4 },
  { calls: 50, pairs: 1, seconds: 4 },
  { calls: 1, pairs: 1, seconds: 4 },
];

/** A percentile of fewer turns is a matter of luck. */
const TURNS_MIN = 30;

/** A turn takes a little less: 0.6 s of speech, 0.46 of waiting, 0.4 of reply, and the pause before the next. */
const TURN_S_MAX = 2.2;

interface Measured {
  readonly calls: number;
  readonly pairs: readonly Pair<TurnRun>[];
  /** With one call a grid is a matter of luck. */
  readonly grid: TurnRun | undefined;
}

/** `npm run bench -- call-loop [--calls N] [--pairs 2] [--seconds 4] [--warm 10] [--gate]`; without `--calls`: 200, 50 and 1; by default as long as 30 turns take. */
export async function run(args: readonly string[]): Promise<void> {
  const tools = { caller: turnCaller(), agent: turnAgent() };
  const server = await TalkServer.start({ replyMs: REPLY_MS });
  const results: Measured[] = [];
  try {
    await warmUp(server, tools);
    for (const step of stepsOf(args)) results.push(await measure(server, tools, step));
  } finally {
    await server.stop();
  }
  console.log(markdownTable(results.flatMap(rowsOf)));
  checkTargets(args, results.flatMap(targetsOf));
}

/** Code that has run a few times only is slower than what a server of some days runs. */
async function warmUp(server: TalkServer, { caller }: Tools): Promise<void> {
  await runServer(server, { caller, calls: 200, seconds: 4, behaviour: 'turns' });
}

function stepsOf(args: readonly string[]): readonly Step[] {
  const calls = numberArg(args, 'calls', 0);
  const steps = calls > 0 ? [{ calls, pairs: 2, seconds: 4 }] : STEPS;
  return steps.map((step) => ({
    calls: step.calls,
    pairs: numberArg(args, 'pairs', step.pairs),
    seconds: numberArg(args, 'seconds', Math.max(step.seconds, secondsFor(TURNS_MIN, step.calls))),
    warmSeconds: numberArg(args, 'warm', SETTLED_S),
  }));
}

/** Measured time in which `calls` take so many turns. */
function secondsFor(turns: number, calls: number): number {
  return Math.ceil((turns * TURN_S_MAX) / calls);
}

async function measure(
  server: TalkServer,
  { caller, agent }: Tools,
  { calls, seconds, warmSeconds, ...step }: Step,
): Promise<Measured> {
  const plan: TurnPlan = { caller, calls, seconds, warmSeconds, behaviour: 'turns' };
  const pairs = await pairedRuns({
    pairs: step.pairs,
    a: () => runServer(server, plan),
    b: () => runAgent(agent, { mode: 'aligned', replyMs: REPLY_MS, plan }),
  });
  const grid =
    calls > 1 ? await runAgent(agent, { mode: 'grid', replyMs: REPLY_MS, plan }) : undefined;
  for (const { a, b, machine, isVoid } of pairs) {
    printJson({
      bench: 'call-loop',
      calls,
      ours: figures([a]),
      ideal: figures([b]),
      machine,
      isVoid,
    });
  }
  if (grid !== undefined) printJson({ bench: 'call-loop', calls, grid: figures([grid]) });
  return { calls, pairs, grid };
}

/** The overhead's percentiles over all turns of some runs. */
function figures(runs: readonly TurnRun[]) {
  const overheadsMs = runs.flatMap(({ replies }) => replies.map((ms) => ms - NOMINAL_MS));
  const most = (pick: (run: TurnRun) => number) => Math.max(...runs.map(pick));
  return {
    turns: overheadsMs.length,
    missed: runs.reduce((sum, { missed }) => sum + missed, 0),
    late: runs.reduce((sum, { lateTurns }) => sum + lateTurns, 0),
    p50: percentile(overheadsMs, 50),
    p95: percentile(overheadsMs, 95),
    p99: percentile(overheadsMs, 99),
    cpuPercentPerCall: most(({ cpuPercentPerCall }) => cpuPercentPerCall),
    waitPercent: most(({ waitPercent }) => waitPercent),
    callerCpuPercent: most(({ callerCpuPercent }) => callerCpuPercent),
  };
}

function rowsOf({ calls, pairs, grid }: Measured): Row[] {
  const load = Math.max(...pairs.map(({ machine }) => machine.load));
  const steal = Math.max(...pairs.map(({ machine }) => machine.stealPercent));
  const row = (agent: string, runs: readonly TurnRun[]) => {
    const { turns, missed, late, p50, p95, p99, cpuPercentPerCall, waitPercent } = figures(runs);
    return {
      ...{ calls, agent, turns, missed, 'caller late': late },
      'waits set, ms': WAITS_SET,
      'overhead p50 ms': p50,
      'p95 ms': p95,
      'p99 ms': p99,
      'CPU, % of a core a call': cpuPercentPerCall,
      'waited for a core, %': waitPercent,
      ...{ load, 'steal %': steal },
    };
  };
  return [
    row(
      'ours',
      pairs.map(({ a }) => a),
    ),
    row(
      'ideal',
      pairs.map(({ b }) => b),
    ),
    ...(grid === undefined ? [] : [row('ideal on a grid', [grid])]),
  ];
}

function targetsOf({ calls, pairs, grid }: Measured): Target[] {
  const ours = figures(pairs.map(({ a }) => a));
  const total = ratios(pairs, ({ replies }) => percentile(replies, 50));
  const name = (what: string) => `${calls} calls: ${what}`;
  return [
    {
      name: name('time that the server waited for a core, %'),
      value: ours.waitPercent,
      limit: WAIT_PERCENT_MAX,
      tolerance: 0,
    },
    {
      name: name(`turns short of ${TURNS_MIN}`),
      value: TURNS_MIN - ours.turns,
      limit: 0,
      tolerance: 0,
    },
    { name: name('turns without a reply'), value: ours.missed, limit: 0, tolerance: 0 },
    { name: name('overhead p50, ms'), value: ours.p50, limit: 1.5, tolerance: 0.1 },
    { name: name('overhead p99, ms'), value: ours.p99, limit: 5, tolerance: 0.1 },
    {
      name: name('whole wait over the ideal one'),
      value: total.median,
      limit: 1.02,
      tolerance: 0.01,
    },
    ...(grid === undefined
      ? []
      : [
          {
            name: name('overhead p99 over the grid’s'),
            value: ours.p99 / figures([grid]).p99,
            limit: 0.3,
            tolerance: 0.1,
          },
        ]),
    {
      name: name('CPU of the callers, % of a core'),
      value: ours.callerCpuPercent,
      limit: CALLER_PERCENT_MAX,
      tolerance: 0,
    },
  ];
}
