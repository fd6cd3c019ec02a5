/**
 * Row 7, capacity: how many whole calls a server holds, and what one of them costs.
 *
 * Calls that talk, as those of `call-loop`, in rising numbers, until packets are late or lost, or a greeting comes late,
 * or the callers themselves are short of a processor. Then, at one number of calls and in turn: recorded or not, and with
 * or without the neural voice detector. Recordings, events and database are real, the models are stubs whose own work is
 * counted as the server's. What others publish was measured on their machines, not here.
 */
import { detectorFolder } from './lib/detector-folder.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  observe,
  type Pair,
  pairedRuns,
  percentile,
  printJson,
  type Row,
  ratios,
  type Target,
  textArg,
} from './lib/harness.ts';
import { residentKbOf } from './lib/process-memory.ts';
import { TalkServer, type TalkServerOptions } from './lib/talk-server.ts';
import { runServer, type TurnRun, turnCaller } from './lib/turn-run.ts';

const REPLY_MS = 400;
const LATE_MS_MAX = 10;
const FIRST_AUDIO_MS_MAX = 20;
const CALLER_PERCENT_MAX = 70;
/** A main thread that waits for its core for longer than this shares it with the callers. */
const WAIT_PERCENT_MAX = 10;

/** Code that has run a few times only is slower than what a server of some days runs. */
const WARM_UP = { calls: 50, seconds: 4 };

/** At how many calls settings are compared. */
const COMPARED_CALLS = 100;

/** RTP ports of the second of two servers that are up together. */
const SECOND_PORTS = 28_000;

const PUBLISHED: readonly Row[] = [
  { who: 'SiphonAI', says: '0.54 % of a core a call' },
  { who: 'active-call', says: '160 calls a core' },
  { who: 'LiveKit Agents', says: '7 calls a core' },
];

interface Step extends TurnRun {
  /** From the ACK to the greeting's first packet. */
  readonly firstAudioP95Ms: number;
  /** Calls that heard no greeting. */
  readonly silent: number;
  /** Resident memory of the server beyond what it had without calls. */
  readonly mbPerCall: number;
  /** Why there is no step after this one; undefined when there is. */
  readonly limit: string | undefined;
  /** The limit is the machine's: the step says nothing of the server. */
  readonly isVoid: boolean;
}

/**
 * `npm run bench -- capacity [--from 50] [--step 50] [--to 400] [--seconds 10] [--pairs 2] [--compared 100]
 * [--file silero_vad.onnx] [--gate]`; without `--file` the detector has Silero's sizes and random weights.
 */
export async function run(args: readonly string[]): Promise<void> {
  const steps = await ramp(args);
  console.log(markdownTable(steps.map(rowOf)));
  const compared = { calls: numberArg(args, 'compared', COMPARED_CALLS), args };
  const recording = await compare(compared, {}, { isRecorded: false });
  const model = detectorFolder(textArg(args, 'file'));
  try {
    const detector = await compare(compared, { detectorFolder: model.path }, {});
    console.log(
      markdownTable([
        ...pairRows('recorded', 'not recorded', recording),
        ...pairRows('neural detector', 'energy alone', detector),
      ]),
    );
    console.log(`Published by others, not measured here:\n${markdownTable(PUBLISHED)}`);
    checkTargets(args, [...rampTargets(steps), ...pairTargets(recording, detector)]);
  } finally {
    model.remove();
  }
}

async function ramp(args: readonly string[]): Promise<readonly Step[]> {
  const from = numberArg(args, 'from', 50);
  const by = numberArg(args, 'step', 50);
  const to = numberArg(args, 'to', 400);
  const server = await startWarm({ callsMax: Math.max(to, WARM_UP.calls) });
  const idleKb = residentKbOf(server.pid);
  const steps: Step[] = [];
  try {
    for (let calls = from; calls <= to; calls += by) {
      const { result, machine } = await observe(() => take(server, { calls, idleKb, args }));
      steps.push(result);
      const { replies, stops, resumes, voices, ...figures } = result;
      printJson({ bench: 'capacity', turns: replies.length, ...figures, machine });
      if (result.limit !== undefined) break;
    }
  } finally {
    await server.stop();
  }
  return steps;
}

async function startWarm(options: Omit<TalkServerOptions, 'replyMs'>): Promise<TalkServer> {
  const server = await TalkServer.start({ replyMs: REPLY_MS, ...options });
  try {
    await runServer(server, { caller: turnCaller(), ...WARM_UP, behaviour: 'turns' });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

async function take(
  server: TalkServer,
  options: { readonly calls: number; readonly idleKb: number; readonly args: readonly string[] },
): Promise<Step> {
  const { calls, idleKb, args } = options;
  const seconds = numberArg(args, 'seconds', 10);
  const plan = { caller: turnCaller(), calls, seconds, behaviour: 'turns' } as const;
  const turns = await runServer(server, plan);
  const firstAudioMs = turns.voices.flatMap((atMs, call) =>
    atMs === 0 ? [] : [atMs - (server.answeredAtMs[call] ?? Number.NaN)],
  );
  const run = {
    ...turns,
    firstAudioP95Ms: percentile(firstAudioMs, 95),
    silent: calls - firstAudioMs.length,
    mbPerCall: (turns.residentKb - idleKb) / 1024 / calls,
  };
  const machineLimit = machineLimitOf(run);
  return { ...run, limit: machineLimit ?? limitOf(run), isVoid: machineLimit !== undefined };
}

/** What keeps the machine from carrying callers and server both. */
function machineLimitOf({ callerCpuPercent, waitPercent }: TurnRun): string | undefined {
  if (callerCpuPercent > CALLER_PERCENT_MAX) return 'void: the callers are short of a processor';
  if (waitPercent > WAIT_PERCENT_MAX) return 'void: no core is free for the server';
  return undefined;
}

function limitOf(run: Omit<Step, 'limit' | 'isVoid'>): string | undefined {
  if (run.lost > 0) return 'packets are lost';
  if (run.packetsLateP99Ms > LATE_MS_MAX) return 'packets are late';
  if (run.silent > 0) return 'greetings are not heard';
  return run.firstAudioP95Ms > FIRST_AUDIO_MS_MAX ? 'greetings are late' : undefined;
}

function rowOf(step: Step): Row {
  return {
    calls: step.calls,
    'CPU, % of a core a call': step.cpuPercentPerCall,
    'packets late p99 ms': step.packetsLateP99Ms,
    lost: step.lost,
    'ACK to voice p95 ms': step.firstAudioP95Ms,
    'turns without a reply': step.missed,
    'MB a call': step.mbPerCall,
    'callers, % of a core': step.callerCpuPercent,
    'waited for a core, %': step.waitPercent,
    'ramp ends': step.limit ?? '',
  };
}

/** Both kinds of server are up at the same time; the one that is not called costs nothing. */
async function compare(
  { calls, args }: { readonly calls: number; readonly args: readonly string[] },
  ours: Omit<TalkServerOptions, 'replyMs'>,
  other: Omit<TalkServerOptions, 'replyMs'>,
): Promise<readonly Pair<TurnRun>[]> {
  const servers: TalkServer[] = [];
  const seconds = numberArg(args, 'seconds', 10);
  const call = (server: TalkServer) => () =>
    runServer(server, { caller: turnCaller(), calls, seconds, behaviour: 'turns' });
  try {
    const a = await startWarm(ours);
    servers.push(a);
    const b = await startWarm({ ...other, rtpPortFirst: SECOND_PORTS });
    servers.push(b);
    const runs = await pairedRuns({ pairs: numberArg(args, 'pairs', 2), a: call(a), b: call(b) });
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

/** Of the fullest step that the server held. */
function rampTargets(steps: readonly Step[]): Target[] {
  const held = steps.findLast(({ limit }) => limit === undefined);
  const name = (what: string) => `${held?.calls ?? 'no'} calls: ${what}`;
  const target = (what: string, value: number | undefined, limit: number) => ({
    ...{ name: name(what), value: value ?? Number.NaN, limit },
    tolerance: 0.1,
  });
  return [
    target('energy detector, CPU in % of a core a call', held?.cpuPercentPerCall, 0.25),
    target('MB a call', held?.mbPerCall, 0.3),
    {
      name: 'steps that the server, not the machine, did not hold',
      value: steps.filter(({ limit, isVoid }) => limit !== undefined && !isVoid).length,
      limit: 0,
      tolerance: 0,
    },
  ];
}

function pairTargets(
  recording: readonly Pair<TurnRun>[],
  detector: readonly Pair<TurnRun>[],
): Target[] {
  const { median } = ratios(recording, ({ cpuPercentPerCall }) => cpuPercentPerCall);
  return [
    { name: 'CPU of recorded calls over others', value: median, limit: 1.2, tolerance: 0.05 },
    {
      name: 'neural detector, CPU in % of a core a call',
      value: cpuOf(detector, 'a'),
      limit: 0.35,
      tolerance: 0.1,
    },
  ];
}

if (import.meta.main) await run(process.argv.slice(2));
