/** Time from a reply's text to its first sound: by clauses on a warm process, and the whole reply first. */
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { chooseSynthesizer } from '../src/speech/choose-synthesizer.ts';
import { espeakEngines } from '../src/speech/espeak/espeak-engines.ts';
import { PhraseCache } from '../src/speech/phrase-cache.ts';
import type { Synthesizer } from '../src/speech/synthesizer.ts';
import { loadVoiceBook } from '../src/speech/voice-book.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  percentile,
  printJson,
  ratios,
} from './lib/harness.ts';

const CLAUSE = 'I can book you in for Monday at nine,';
const REPLY = `${CLAUSE} or on Tuesday at ten if that suits you better. The visit takes half an hour, \
and you need not bring anything. Which of the two shall I put down for you?`;
const VOICE = { voice: 'en-US-JennyNeural', language: 'en-US' };

/** `--pairs N` (default 40), `--tts espeak|espeak-wasm|auto`, `--gate`. */
export async function run(args: readonly string[]): Promise<void> {
  const pairs = numberArg(args, 'pairs', 40);
  const synthesizer = await openSynthesizer(args);
  const cache = new PhraseCache({ synthesizer, sizeBytesMax: 2 ** 24 });
  await cache.start();
  await cache.prepare({ text: CLAUSE, ...VOICE });
  const sound = () => firstSoundMs(synthesizer);
  await Promise.all([sound(), wholeReplyMs(synthesizer)]);

  const clauses = await pairedRuns({ pairs, a: sound, b: () => wholeReplyMs(synthesizer) });
  const cached = await pairedRuns({ pairs, a: () => firstSoundMs(cache), b: sound });
  await cache.stop();

  const byClauses = ratios(clauses, (ms) => ms);
  const clauseMs = clauses.map(({ a }) => a);
  const cachedMs = cached.map(({ a }) => a);
  console.log(
    markdownTable([
      row(
        'whole reply, then its first sound',
        clauses.map(({ b }) => b),
      ),
      row('first clause, as it comes', clauseMs),
      row('cached phrase', cachedMs),
    ]),
  );
  printJson({ bench: 'tts-first-chunk', engine: synthesizer.report().engine, ratio: byClauses });
  checkTargets(args, [
    { name: 'clause / whole reply', value: byClauses.median, limit: 0.3, tolerance: 0.1 },
    { name: 'cached phrase, ms', value: percentile(cachedMs, 50), limit: 1, tolerance: 0.1 },
  ]);
}

async function openSynthesizer(args: readonly string[]): Promise<Synthesizer> {
  const at = args.indexOf('--tts');
  const voices = await loadVoiceBook();
  const engines = espeakEngines({ voices, clock: systemClock, logger: silentLogger });
  return chooseSynthesizer({ tts: at < 0 ? 'auto' : (args[at + 1] ?? 'auto'), engines });
}

async function firstSoundMs(synthesizer: Synthesizer): Promise<number> {
  const startedAtMs = performance.now();
  let soundAtMs: number | undefined;
  for await (const _ of synthesizer.speak({ text: CLAUSE, ...VOICE })) {
    soundAtMs ??= performance.now();
  }
  return (soundAtMs ?? Number.NaN) - startedAtMs;
}

/** What an engine that does not stream makes a caller wait for. */
async function wholeReplyMs(synthesizer: Synthesizer): Promise<number> {
  const startedAtMs = performance.now();
  for await (const _ of synthesizer.speak({ text: REPLY, ...VOICE }));
  return performance.now() - startedAtMs;
}

function row(way: string, values: readonly number[]) {
  return { way, 'p50 ms': percentile(values, 50), 'p99 ms': percentile(values, 99) };
}
