/** Words that go wrong on their way through a whole call, against the same audio given to recognisers directly. */
import { decodeG711, encodeG711 } from '../src/media/dsp/g711.ts';
import { wordErrors } from '../src/speech/self-test/self-test.ts';
import { checkTargets, markdownTable, numberArg, printJson } from './lib/harness.ts';
import {
  type BenchRecognizer,
  openOurRecognizer,
  openTransformersRecognizer,
} from './lib/recognizers.ts';
import { type SpokenPhrase, speakSample } from './lib/spoken-sample.ts';
import { type CallHeard, hearThroughCalls } from './lib/word-error-calls.ts';

const SAMPLES_PER_MS = 8;

/** Silence after a phrase that is given to a recogniser directly. */
const TAIL_MS = 300;

/**
 * Silence before it. A call begins an utterance 300 ms before the detector's window of 32 ms in which the voice began,
 * so chance has a phrase lie a little later; the tiny model takes some phrases differently for it.
 */
const LEADS_MS = [300, 310, 320, 330, 340, 350];

export interface WordErrorPlan {
  readonly phrases: number;
  readonly phrasesPerCall: number;
  readonly seed: number;
  /** Whether transformers.js hears the phrases too, which takes it half a minute. */
  readonly isWithTransformers: boolean;
}

export interface WordErrorCount {
  readonly errors: number;
  readonly words: number;
  readonly percent: number;
}

export interface WordErrorReport {
  readonly throughCalls: WordErrorCount & {
    readonly calls: number;
    /** Stretches that the records have of the callers; as many as phrases when none was split or lost. */
    readonly entries: number;
    readonly unanswered: number;
  };
  /** Our recogniser, given the same audio, several times over with different silence before it. */
  readonly direct: WordErrorCount;
  /** The same model and audio in transformers.js; null when it was not asked. */
  readonly transformers: WordErrorCount | null;
  /** What went wrong in calls: a line for each call that has errors. */
  readonly misses: readonly string[];
}

/** `npm run bench -- word-error-rate [--phrases 100] [--per-call 10] [--seed 1] [--gate]`; needs espeak-ng */
export async function run(args: readonly string[]): Promise<void> {
  const phrases = numberArg(args, 'phrases', 100);
  const phrasesPerCall = numberArg(args, 'per-call', 10);
  const seed = numberArg(args, 'seed', 1);
  const report = await measureWordErrors({
    ...{ phrases, phrasesPerCall, seed },
    isWithTransformers: true,
  });

  const { throughCalls, direct, transformers, misses } = report;
  for (const miss of misses) console.log(miss);
  console.log(wordErrorTable(report));
  printJson({ bench: 'word-error-rate', phrases, seed, throughCalls, direct, transformers });
  const beyond = (peer: WordErrorCount | null) =>
    throughCalls.percent - (peer?.percent ?? Number.NaN);
  checkTargets(args, [
    { name: 'word errors, %', value: throughCalls.percent, limit: 8, tolerance: 0 },
    { name: 'beyond the recogniser alone, points', value: beyond(direct), limit: 2, tolerance: 0 },
    { name: 'beyond transformers.js, points', value: beyond(transformers), limit: 2, tolerance: 0 },
  ]);
}

/** Speaks a sample of the closed set and has it heard in three ways. */
export async function measureWordErrors(plan: WordErrorPlan): Promise<WordErrorReport> {
  const phrases = await speakSample(plan.phrases, plan.seed);
  const calls = await hearThroughCalls(phrases, plan.phrasesPerCall);
  const through = calls.map(errorsOfCall);
  return {
    throughCalls: {
      ...total(through),
      calls: calls.length,
      entries: calls.reduce((sum, { heard }) => sum + heard.length, 0),
      unanswered: calls.reduce((sum, { unanswered }) => sum + unanswered, 0),
    },
    direct: await hearDirectly(phrases, LEADS_MS, await openOurRecognizer()),
    transformers: plan.isWithTransformers
      ? await hearDirectly(phrases, LEADS_MS.slice(0, 1), await openTransformersRecognizer())
      : null,
    misses: calls.flatMap((call, index) => (through[index]?.errors ? [describe(call)] : [])),
  };
}

/** The figures as a Markdown table. */
export function wordErrorTable({ throughCalls, direct, transformers }: WordErrorReport): string {
  return markdownTable([
    { heard: `through ${throughCalls.calls} calls`, ...row(throughCalls) },
    { heard: 'by our recogniser directly', ...row(direct) },
    ...(transformers === null
      ? []
      : [{ heard: 'by transformers.js directly', ...row(transformers) }]),
  ]);
}

function row({ percent, errors, words }: WordErrorCount) {
  return { 'word errors %': percent, errors, words };
}

/** The words of a call as a whole, in order: a phrase that was cut in two is still all there. */
function errorsOfCall({ said, heard }: CallHeard) {
  return wordErrors(said.map(({ text }) => text).join(' '), heard.join(' '));
}

async function hearDirectly(
  phrases: readonly SpokenPhrase[],
  leadsMs: readonly number[],
  recognizer: BenchRecognizer,
): Promise<WordErrorCount> {
  const counts: { errors: number; words: number }[] = [];
  for (const leadMs of leadsMs) {
    for (const { pcm, text, language } of phrases) {
      counts.push(wordErrors(text, await recognizer.hear(onTheLine(pcm, leadMs), language)));
    }
  }
  await recognizer.close();
  return total(counts);
}

function onTheLine(pcm: Int16Array, leadMs: number): Int16Array {
  const sound = new Int16Array(pcm.length + (leadMs + TAIL_MS) * SAMPLES_PER_MS);
  sound.set(decodeG711('PCMU', encodeG711('PCMU', pcm)), leadMs * SAMPLES_PER_MS);
  return sound;
}

function total(counts: readonly { errors: number; words: number }[]): WordErrorCount {
  const errors = counts.reduce((sum, count) => sum + count.errors, 0);
  const words = counts.reduce((sum, count) => sum + count.words, 0);
  return { errors, words, percent: (100 * errors) / words };
}

function describe({ said, heard }: CallHeard): string {
  const spoken = said.map(({ text, voice }) => `${text} [${voice}]`).join(' | ');
  return `said:  ${spoken}\nheard: ${heard.join(' | ')}`;
}
