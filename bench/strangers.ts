/**
 * Row 22, strangers: a scanner sends 200 INVITEs a second from an address that no trunk allows; do the calls in progress notice?
 *
 * Callers of a process of their own take turns with the whole server, as in `call-loop`. Loopback is a whole network on Linux: the
 * carrier is 127.0.0.1, the stranger 127.0.0.2. What the stranger hears is counted at its own socket.
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
} from './lib/harness.ts';
import { type FloodReport, STRANGER_TRUNKS, startFlood } from './lib/stranger-flood.ts';
import { TalkServer } from './lib/talk-server.ts';
import { runServer, type TurnRun, turnCaller } from './lib/turn-run.ts';

const REPLY_MS = 400;

interface StrangerRun extends TurnRun, FloodReport {
  /** Requests that the server counted as a stranger's. */
  readonly counted: number;
}

/**
 * `npm run bench -- strangers [--calls 20] [--rate 200] [--seconds 20] [--pairs 3] [--one-piece] [--gate]`: 60 s of flood
 * in all, with `--one-piece` without a break.
 */
export async function run(args: readonly string[]): Promise<void> {
  const [seconds, pieces] = args.includes('--one-piece') ? [60, 1] : [20, 3];
  const pairs = await measure({
    calls: numberArg(args, 'calls', 20),
    rate: numberArg(args, 'rate', 200),
    seconds: numberArg(args, 'seconds', seconds),
    pairs: numberArg(args, 'pairs', pieces),
  });
  for (const { a, b, machine, isVoid } of pairs) {
    printJson({
      bench: 'strangers',
      with: figuresOf([a]),
      without: figuresOf([b]),
      machine,
      isVoid,
    });
  }
  console.log(
    markdownTable([
      { strangers: 'yes', ...figuresOf(pairs.map(({ a }) => a)) },
      { strangers: 'no', ...figuresOf(pairs.map(({ b }) => b)) },
    ]),
  );
  const judged = pairs.filter(({ isVoid }) => !isVoid);
  const later = (pick: (run: StrangerRun) => number) =>
    percentile(
      judged.map(({ a, b }) => pick(a) - pick(b)),
      50,
    );
  const { received, uncounted, missed } = figuresOf(pairs.map(({ a }) => a));
  const none = { limit: 0, tolerance: 0 };
  checkTargets(args, [
    { name: 'packets that the stranger got', value: Number(received), ...none },
    { name: 'INVITEs that were not counted', value: Number(uncounted), ...none },
    { name: 'turns without a reply', value: Number(missed), ...none },
    { name: 'reply p50 later by ms', value: later(replyP50), limit: 5, tolerance: 0 },
    {
      name: 'packets p99 later by ms',
      value: later((one) => one.packetsLateP99Ms),
      limit: 1,
      tolerance: 0,
    },
  ]);
}

/** Turns of the same calls with a flood and without, by turns. */
export async function measure(plan: {
  readonly calls: number;
  readonly rate: number;
  readonly seconds: number;
  readonly pairs: number;
}): Promise<readonly Pair<StrangerRun>[]> {
  const server = await TalkServer.start({ replyMs: REPLY_MS, trunks: STRANGER_TRUNKS });
  const turns = { calls: plan.calls, seconds: plan.seconds, caller: turnCaller() };
  const once = async (invitesPerSecond: number): Promise<StrangerRun> => {
    const before = await server.strangers();
    const flood = startFlood(server.sipPort, invitesPerSecond, plan.seconds);
    const result = await runServer(server, { ...turns, behaviour: 'turns' }, flood.load);
    const report = await flood.report();
    return { ...result, ...report, counted: (await server.strangers()) - before };
  };
  try {
    return await pairedRuns({
      pairs: plan.pairs,
      a: () => once(plan.rate),
      b: () => once(0),
    });
  } finally {
    await server.stop();
  }
}

/** Half of the turns waited no longer than that for their reply. */
export function replyP50({ replies }: TurnRun): number {
  return percentile(replies, 50);
}

function figuresOf(runs: readonly StrangerRun[]): Row {
  const sum = (pick: (run: StrangerRun) => number) =>
    runs.reduce((total, one) => total + pick(one), 0);
  const replies = runs.flatMap((one) => one.replies);
  return {
    turns: replies.length,
    missed: sum(({ missed }) => missed),
    'reply p50 ms': percentile(replies, 50),
    'reply p95 ms': percentile(replies, 95),
    'packets late p99 ms': Math.max(...runs.map((one) => one.packetsLateP99Ms)),
    'CPU, % of a core a call': Math.max(...runs.map((one) => one.cpuPercentPerCall)),
    INVITEs: sum(({ sent }) => sent),
    received: sum(({ received }) => received),
    uncounted: sum(({ sent, counted }) => sent - counted),
  };
}

if (import.meta.main) await run(process.argv.slice(2));
