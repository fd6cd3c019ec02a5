/** Row 8, vad: the 8 kHz detector over 1, 8, 32 and 100 calls a run, against the file as it is at 16 kHz, a call at a time. */
import { basename, join } from 'node:path';
import { openSilero, openVoiceDetector } from '../src/speech/vad/silero/silero-detector.ts';
import { type Vad, VadTrack } from '../src/speech/vad/vad-track.ts';
import { readPhrase, SPOKEN_PHRASES, TINY_VAD_PATH } from '../test/speech/spoken-phrases.ts';
import { detectorFolder } from './lib/detector-folder.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  percentile,
  printJson,
  ratios,
  textArg,
} from './lib/harness.ts';

const BATCHES = [1, 8, 32, 100] as const;
const WINDOW_MS = 32;
const PROBABILITY_DIFFERENCE_MAX = 1e-5;

interface VadRun {
  readonly cpuUsPerWindow: number;
  /** Of every call, in order. */
  readonly scores: readonly (readonly number[])[];
  /** Voices started and stopped, of every call, as text. */
  readonly decisions: string;
}

interface Contest {
  readonly model: string;
  /** As the server runs it, over all calls at once. */
  readonly batched: Vad;
  /** The file as it is at the same rate, to compare the answers with. */
  readonly unchanged: Vad;
  /** The file as it is at 16 kHz, a call at a time. */
  readonly alone: Vad;
}

/**
 * `npm run bench -- vad [--pairs 5] [--file silero_vad.onnx] [--gate]`: Silero's sizes with random weights, or a file of
 * Silero's own, then our tiny model, which knows 16 kHz only.
 */
export async function run(args: readonly string[]): Promise<void> {
  const pairs = numberArg(args, 'pairs', 5);
  const file = textArg(args, 'file');
  const sized = await openPrepared(file);
  const contests: readonly Contest[] = [sized, await openContest('tiny', TINY_VAD_PATH)];

  const rows = [];
  for (const contest of contests) {
    for (const calls of BATCHES) rows.push(await compare(contest, calls, pairs));
  }
  for (const { batched, unchanged, alone } of contests) {
    await Promise.all([batched, unchanged, alone].map((detector) => detector.close()));
  }

  console.log(markdownTable(rows));
  printJson({ bench: 'vad', rows });
  checkTargets(args, [
    {
      name: '8 kHz batched over 16 kHz alone, 100 calls',
      value: rows.find(({ model, calls }) => model === sized.model && calls === 100)?.ratio ?? NaN,
      limit: 0.2,
      tolerance: 0.1,
    },
    {
      name: 'difference of probabilities, batched or not',
      value: Math.max(...rows.map((row) => row.difference)),
      limit: PROBABILITY_DIFFERENCE_MAX,
      tolerance: 0,
    },
    {
      name: 'calls decided otherwise',
      value: rows.filter((row) => row.decisions !== 'equal').length,
      limit: 0,
      tolerance: 0,
    },
  ]);
}

/** Prepared, as the server runs it. */
async function openPrepared(file: string | undefined): Promise<Contest> {
  const folder = await detectorFolder(file);
  try {
    const model = file === undefined ? 'Silero’s sizes' : `"${basename(file)}"`;
    return await openContest(model, join(folder.path, 'vad', 'silero_vad.onnx'));
  } finally {
    folder.remove();
  }
}

async function openContest(model: string, path: string): Promise<Contest> {
  const batched = await openVoiceDetector(path);
  if (batched.drawback !== undefined) console.log(`${model}: ${batched.drawback}`);
  const unchanged = await openSilero(path, batched.rateHz);
  return { model, batched, unchanged, alone: await openSilero(path, 16_000) };
}

async function compare(
  { model, batched, unchanged, alone }: Contest,
  calls: number,
  pairs: number,
) {
  const results = await pairedRuns({
    pairs,
    a: () => scoreCalls(batched, calls, calls),
    b: () => scoreCalls(alone, calls, 1),
  });
  const ratio = ratios(results, ({ cpuUsPerWindow }) => cpuUsPerWindow);
  const [one, other] = [
    await scoreCalls(batched, calls, calls),
    await scoreCalls(unchanged, calls, 1),
  ];
  const us = percentile(
    results.map(({ a }) => a.cpuUsPerWindow),
    50,
  );
  return {
    model,
    calls,
    'us per window': us,
    'us 16 kHz alone': percentile(
      results.map(({ b }) => b.cpuUsPerWindow),
      50,
    ),
    ratio: ratio.median,
    'ratio min': ratio.min,
    'ratio max': ratio.max,
    'CPU % per call': us / (WINDOW_MS * 10),
    difference: largestDifference(one.scores, other.scores),
    decisions: one.decisions === other.decisions ? 'equal' : 'DIFFERENT',
  };
}

/** Scores as many calls as are wanted, `batch` of them a run, from the line's 8 kHz on. */
async function scoreCalls(detector: Vad, calls: number, batch: number): Promise<VadRun> {
  const tracks = Array.from({ length: calls }, (_, call) => {
    const track = new VadTrack(detector);
    track.push(readPhrase(SPOKEN_PHRASES[call % SPOKEN_PHRASES.length]?.file ?? ''));
    return { track, scores: [] as number[], decisions: [] as string[] };
  });
  const before = process.cpuUsage();
  for (let start = 0; start < calls; start += batch) {
    await scoreToEnd(detector, tracks.slice(start, start + batch));
  }
  const { user, system } = process.cpuUsage(before);
  const windows = tracks.reduce((sum, { scores }) => sum + scores.length, 0);
  return {
    cpuUsPerWindow: (user + system) / windows,
    scores: tracks.map(({ scores }) => scores),
    decisions: tracks.map(({ decisions }) => decisions.join(' ')).join('\n'),
  };
}

async function scoreToEnd(
  detector: Vad,
  calls: readonly { track: VadTrack; scores: number[]; decisions: string[] }[],
): Promise<void> {
  for (;;) {
    const ready = calls.flatMap((call) => {
      const window = call.track.takeWindow();
      return window === null ? [] : [{ window, ...call }];
    });
    if (ready.length === 0) return;
    const scores = await detector.score(ready.map(({ window }) => window));
    ready.forEach((call, index) => {
      const score = scores[index] ?? NaN;
      call.scores.push(score);
      const event = call.track.score(score, { position: 0, atMs: 0 });
      if (event !== null) call.decisions.push(JSON.stringify(event));
    });
  }
}

function largestDifference(some: VadRun['scores'], others: VadRun['scores']): number {
  const differences = some.flatMap((scores, call) =>
    scores.map((score, window) => Math.abs(score - (others[call]?.[window] ?? NaN))),
  );
  return Math.max(...differences);
}
