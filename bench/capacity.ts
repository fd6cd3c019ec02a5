/**
 * Row 7, capacity: how many whole calls a server holds, and what one of them costs.
 *
 * Calls that talk, as those of `call-loop`, in rising numbers, until packets are late or lost, or who rings meanwhile is
 * refused or greeted late, or the callers themselves are short of a processor. Then, at one number of calls and in turn:
 * recorded or not, and with or without the neural voice detector. Recordings, events and database are real, the models are
 * stubs whose own work is counted as the server's, as are the calls of who rings meanwhile. What others publish was measured
 * on their machines, not here.
 */
import { climb, heldOf, type Ramp, startWarm } from './lib/capacity-ramp.ts';
import { machineLimitOf, rowOf } from './lib/capacity-step.ts';
import { detectorFolder } from './lib/detector-folder.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  type Pair,
  pairedRuns,
  percentile,
  type Row,
  ratios,
  type Target,
  textArg,
} from './lib/harness.ts';
import type { Command } from './lib/line-process.ts';
import type { TalkServer, TalkServerOptions } from './lib/talk-server.ts';
import { runServer, type TurnRun, turnCaller } from './lib/turn-run.ts';

/** At how many calls settings are compared. */
const COMPARED_CALLS = 100;

/** RTP ports of the second of two servers that are up together. */
const SECOND_PORTS = 28_000;

const PUBLISHED: readonly Row[] = [
  { who: 'SiphonAI', says: '0.54 % of a core a call' },
  { who: 'active-call', says: '160 calls a core' },
  { who: 'LiveKit Agents', says: '7 calls a core' },
];

/** What is measured, by the name that `--only` takes. */
const PARTS: Readonly<Record<string, (measured: Measured) => Promise<readonly Target[]>>> = {
  ramp: measureRamp,
  recording: measureRecording,
  detector: measureDetector,
};

interface Measured {
  readonly caller: Command;
  readonly args: readonly string[];
}

/**
 * `npm run bench -- capacity [--only ramp|recording|detector] [--from 50] [--step 50] [--to 400] [--seconds 10] [--pairs 3]
 * [--compared 100] [--file silero_vad.onnx] [--gate]`; without `--file` the detector has Silero's sizes and random weights.
 *
 * @throws {RangeError} for a part that there is not.
 */
export async function run(args: readonly string[]): Promise<void> {
  const only = textArg(args, 'only');
  if (only !== undefined && PARTS[only] === undefined) {
    throw new RangeError(`Cannot measure "${only}": expected ${Object.keys(PARTS).join(', ')}`);
  }
  const caller = turnCaller();
  const targets: Target[] = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    if (only === undefined || only === name) targets.push(...(await measure({ caller, args })));
  }
  console.log(`Published by others, not measured here:\n${markdownTable(PUBLISHED)}`);
  checkTargets(args, targets);
}

async function measureRamp({ caller, args }: Measured): Promise<readonly Target[]> {
  const ramp = await climb(caller, args);
  console.log(markdownTable(ramp.steps.map(rowOf)));
  return rampTargets(ramp);
}

async function measureRecording(measured: Measured): Promise<readonly Target[]> {
  const pairs = await compare(measured, {}, { isRecorded: false });
  console.log(markdownTable(pairRows('recorded', 'not recorded', pairs)));
  const { median } = ratios(pairs, ({ cpuPercentPerCall }) => cpuPercentPerCall);
  return [
    { name: 'CPU of recorded calls over others', value: median, limit: 1.2, tolerance: 0.05 },
  ];
}

async function measureDetector(measured: Measured): Promise<readonly Target[]> {
  const model = await detectorFolder(textArg(measured.args, 'file'));
  try {
    const pairs = await compare(measured, { detectorFolder: model.path }, {});
    console.log(markdownTable(pairRows('neural detector', 'energy alone', pairs)));
    const name = 'neural detector, CPU in % of a core a call';
    return [{ name, value: cpuOf(pairs, 'a'), limit: 0.35, tolerance: 0.1 }];
  } finally {
    model.remove();
  }
}

/** Both kinds of server are up at the same time; the one that is not called costs nothing. */
async function compare(
  { caller, args }: Measured,
  ours: Omit<TalkServerOptions, 'replyMs'>,
  other: Omit<TalkServerOptions, 'replyMs'>,
): Promise<readonly Pair<TurnRun>[]> {
  const servers: TalkServer[] = [];
  const calls = numberArg(args, 'compared', COMPARED_CALLS);
  const seconds = numberArg(args, 'seconds', 10);
  const call = (server: TalkServer) => () =>
    runServer(server, { caller, calls, seconds, behaviour: 'turns' });
  try {
    const a = await startWarm(caller, ours);
    servers.push(a);
    const b = await startWarm(caller, { ...other, rtpPortFirst: SECOND_PORTS });
    servers.push(b);
    const runs = await pairedRuns({ pairs: numberArg(args, 'pairs', 3), a: call(a), b: call(b) });
    return runs.map((pair) => ({
      ...pair,
      isVoid: pair.isVoid || [pair.a, pair.b].some((run) => machineLimitOf(run) !== undefined),
    }));
  } finally {
    for (const server of servers) await server.stop();
  }
}

function cpuOf(pairs: readonly Pair<TurnRun>[], side: 'a' | 'b'): number {
  const counted = pairs.filter(({ isVoid }) => !isVoid);
  return percentile(
    counted.map((pair) => pair[side].cpuPercentPerCall),
    50,
  );
}

function pairRows(a: string, b: string, pairs: readonly Pair<TurnRun>[]): Row[] {
  const ratio = ratios(pairs, ({ cpuPercentPerCall }) => cpuPercentPerCall);
  const counted = `${ratio.pairs} of ${pairs.length}`;
  const row = { 'pairs that count': counted, min: ratio.min, max: ratio.max };
  return [
    { calls: a, 'CPU, % of a core a call': cpuOf(pairs, 'a'), ratio: ratio.median, ...row },
    { calls: b, 'CPU, % of a core a call': cpuOf(pairs, 'b'), ratio: 1, ...row },
  ];
}

function rampTargets({ steps, isRefused, mbPerCall }: Ramp): Target[] {
  const held = heldOf(steps);
  const failed = steps.filter(({ limit, isVoid }) => limit !== undefined && !isVoid).length;
  const name = (what: string) => `${held?.calls ?? 'no'} calls: ${what}`;
  const target = (what: string, value: number | undefined, limit: number) => ({
    ...{ name: name(what), value: value ?? Number.NaN, limit },
    tolerance: 0.1,
  });
  return [
    target('energy detector, CPU in % of a core a call', held?.cpuPercentPerCall, 0.25),
    target('MB held per call', mbPerCall, 0.3),
    {
      name: 'steps that the server, not the machine, did not hold',
      value: failed + (isRefused ? 1 : 0),
      limit: 0,
      tolerance: 0,
    },
  ];
}

if (import.meta.main) await run(process.argv.slice(2));
