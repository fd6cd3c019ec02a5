/**
 * Row 3, barge-in: how soon the agent falls silent when the caller speaks over it, and how seldom without cause.
 *
 * Over every reply a caller makes a noise of one or two packets (nothing may stop), a voice of 240 ms (the agent pauses, and
 * goes on as soon as it is told to), then speaks. The recogniser is a stub that takes any short voice for a backchannel: this
 * row times the pause and the going on alone; whose floor it is with a real recogniser is `interruptions`. A voice begins 20 ms before its first packet
 * leaves, so the time **after onset** is the time from that packet to the agent's last voiced one, and 20 ms. One packet
 * cannot tell voice from noise: with three, 60 ms after onset is the limit of what is possible. The peers are the
 * times that two frameworks wait by default before they believe that somebody interrupts: fixed figures of their
 * documentation, nothing measured here.
 */
import { FRAME_MS } from '../src/media/audio-stream.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  observe,
  percentile,
  printJson,
  type Row,
  type Target,
} from './lib/harness.ts';
import { TalkServer } from './lib/talk-server.ts';
import { runServer, type TurnRun, turnCaller } from './lib/turn-run.ts';

/** Longer than everything that the caller does over one reply. */
const REPLY_MS = 5000;
const SPREAD_MS = 20;

const DEFAULTS: readonly Row[] = [
  { agent: 'LiveKit Agents, minimum interruption (default)', 'p50 ms': 500, 'p99 ms': 500 },
  { agent: 'Pipecat, start of voice (default)', 'p50 ms': 200, 'p99 ms': 200 },
];

/** `npm run bench -- barge-in [--calls 50] [--runs 2] [--seconds 12] [--gate]` */
export async function run(args: readonly string[]): Promise<void> {
  const calls = numberArg(args, 'calls', 50);
  const runs = numberArg(args, 'runs', 2);
  const plan = {
    ...{ caller: turnCaller(), calls, seconds: numberArg(args, 'seconds', 12) },
    behaviour: 'interrupts' as const,
  };
  const server = await TalkServer.start({ replyMs: REPLY_MS, spreadMs: SPREAD_MS });
  const measured: TurnRun[] = [];
  try {
    for (let index = 0; index < runs; index += 1) {
      const { result, machine } = await observe(() => runServer(server, plan));
      const { stops, resumes, replies, ...rest } = result;
      const times = { stops: stops.length, resumes: resumes.length, replies: replies.length };
      printJson({ bench: 'barge-in', ...rest, ...times, machine });
      measured.push(result);
    }
  } finally {
    await server.stop();
  }
  const figures = figuresOf(measured);
  console.log(markdownTable([rowOf(figures), ...DEFAULTS]));
  checkTargets(args, targetsOf(figures));
}

function figuresOf(runs: readonly TurnRun[]) {
  const sum = (pick: (run: TurnRun) => number) => runs.reduce((total, run) => total + pick(run), 0);
  return {
    stopsMs: runs.flatMap(({ stops }) => stops.map((ms) => ms + FRAME_MS)),
    resumesMs: runs.flatMap(({ resumes }) => resumes),
    missed: sum(({ missed }) => missed),
    noises: sum(({ noises }) => noises),
    noiseStops: sum(({ noiseStops }) => noiseStops),
    lostHums: sum(({ lostHums }) => lostHums),
    stale: sum(({ stale }) => stale),
    callerCpuPercent: Math.max(...runs.map(({ callerCpuPercent }) => callerCpuPercent)),
  };
}

type Figures = ReturnType<typeof figuresOf>;

function rowOf(figures: Figures): Row {
  const { stopsMs, resumesMs, noises, noiseStops, stale } = figures;
  return {
    agent: 'ours, silent after the onset of the voice',
    'p50 ms': percentile(stopsMs, 50),
    'p99 ms': percentile(stopsMs, 99),
    interruptions: stopsMs.length,
    'stale packets': stale,
    'stopped by noise': `${noiseStops} of ${noises}`,
    'went on when told to, p50 ms': percentile(resumesMs, 50),
  };
}

function targetsOf(figures: Figures): Target[] {
  const { stopsMs, missed, noiseStops, lostHums, stale, callerCpuPercent } = figures;
  const none = { limit: 0, tolerance: 0 };
  return [
    {
      name: 'silent after onset p50, ms',
      value: percentile(stopsMs, 50),
      limit: 60,
      tolerance: 0.1,
    },
    {
      name: 'silent after onset p99, ms',
      value: percentile(stopsMs, 99),
      limit: 80,
      tolerance: 0.1,
    },
    { name: 'stops for a noise of one or two packets', value: noiseStops, ...none },
    { name: 'stale packets after the drop', value: stale, ...none },
    { name: 'replies that did not go on when told to', value: lostHums, ...none },
    { name: 'interruptions without a reply', value: missed, ...none },
    { name: 'CPU of the callers, % of a core', value: callerCpuPercent, limit: 70, tolerance: 0 },
  ];
}
