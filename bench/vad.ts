/** Row 8, vad: the detector over 1, 8, 32 and 100 calls a run, against one call a run. */
import { openVoiceDetector } from '../src/speech/silero/silero-detector.ts';
import type { VoiceDetector } from '../src/speech/voice-detector.ts';
import { VoiceTrack } from '../src/speech/voice-track.ts';
import { readPhrase, SPOKEN_PHRASES, TINY_VAD_PATH } from '../test/speech/spoken-phrases.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  printJson,
  ratios,
} from './lib/harness.ts';

const BATCHES = [1, 8, 32, 100] as const;
const WINDOW_MS = 32;
const PROBABILITY_DIFFERENCE_MAX = 1e-5;

interface VadRun {
  readonly cpuUsPerWindow: number;
  /** Of every call, in order. */
  readonly scores: readonly (readonly number[])[];
}

/** `npm run bench -- vad [--pairs 5] [--gate]`; the model is our own tiny one, which hears 16 kHz only. */
export async function run(args: readonly string[]): Promise<void> {
  const detector = await openVoiceDetector(TINY_VAD_PATH);
  const pairs = numberArg(args, 'pairs', 5);
  await scoreCalls(detector, 8, 8);

  const rows = [];
  for (const calls of BATCHES) rows.push(await compare(detector, calls, pairs));
  await detector.close();

  console.log(markdownTable(rows));
  printJson({ bench: 'vad', rateHz: detector.rateHz, rows });
  const largest = rows.at(-1);
  checkTargets(args, [
    // The target's other factor, Silero's 8 kHz branch, is not in the tiny model.
    {
      name: 'batched over alone, 100 calls',
      value: largest?.ratio ?? NaN,
      limit: 0.2,
      tolerance: 0.1,
    },
    {
      name: 'difference of probabilities',
      value: Math.max(...rows.map((row) => row.difference)),
      limit: PROBABILITY_DIFFERENCE_MAX,
      tolerance: 0,
    },
  ]);
}

async function compare(detector: VoiceDetector, calls: number, pairs: number) {
  const results = await pairedRuns({
    pairs,
    a: () => scoreCalls(detector, calls, calls),
    b: () => scoreCalls(detector, calls, 1),
  });
  const ratio = ratios(results, ({ cpuUsPerWindow }) => cpuUsPerWindow);
  const [first] = results;
  const us = first?.a.cpuUsPerWindow ?? NaN;
  return {
    calls,
    'us per window': us,
    'us alone': first?.b.cpuUsPerWindow ?? NaN,
    ratio: ratio.median,
    'ratio min': ratio.min,
    'ratio max': ratio.max,
    'CPU % per call': us / (WINDOW_MS * 10),
    difference: first === undefined ? NaN : largestDifference(first.a.scores, first.b.scores),
  };
}

/** Scores as many calls as are wanted, `batch` of them a run. */
async function scoreCalls(detector: VoiceDetector, calls: number, batch: number): Promise<VadRun> {
  const tracks = Array.from({ length: calls }, (_, call) => {
    const track = new VoiceTrack(detector);
    track.push(readPhrase(SPOKEN_PHRASES[call % SPOKEN_PHRASES.length]?.file ?? ''));
    return { track, scores: [] as number[] };
  });
  const before = process.cpuUsage();
  for (let start = 0; start < calls; start += batch) {
    await scoreToEnd(detector, tracks.slice(start, start + batch));
  }
  const { user, system } = process.cpuUsage(before);
  const windows = tracks.reduce((sum, { scores }) => sum + scores.length, 0);
  return { cpuUsPerWindow: (user + system) / windows, scores: tracks.map(({ scores }) => scores) };
}

async function scoreToEnd(
  detector: VoiceDetector,
  calls: readonly { readonly track: VoiceTrack; readonly scores: number[] }[],
): Promise<void> {
  for (;;) {
    const ready = calls.flatMap(({ track, scores }) => {
      const window = track.takeWindow();
      return window === null ? [] : [{ window, scores }];
    });
    if (ready.length === 0) return;
    const scores = await detector.score(ready.map(({ window }) => window));
    for (const [index, call] of ready.entries()) call.scores.push(scores[index] ?? NaN);
  }
}

function largestDifference(some: VadRun['scores'], others: VadRun['scores']): number {
  const differences = some.flatMap((scores, call) =>
    scores.map((score, window) => Math.abs(score - (others[call]?.[window] ?? NaN))),
  );
  return Math.max(...differences);
}
