/** Time from a reply's text to its first sound: by clauses, and the whole reply first; espeak-ng and neural voices. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { spokenSynthesizer } from '../src/speech/text-normalization/spoken-form.ts';
import { espeakEngines } from '../src/speech/tts/espeak/espeak-engines.ts';
import { kokoroEngine } from '../src/speech/tts/kokoro/kokoro-engine.ts';
import { piperEngine } from '../src/speech/tts/piper/piper-engine.ts';
import { chooseSynthesizer } from '../src/speech/tts/pool/choose-synthesizer.ts';
import type { Synthesizer } from '../src/speech/tts/pool/synthesizer.ts';
import { PhraseCache } from '../src/speech/tts/voices/phrase-cache.ts';
import { loadVoiceBook } from '../src/speech/tts/voices/voice-book.ts';
import { writeKokoro, writePiperVoice } from '../test/support/speech/voice-graphs.ts';
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
import { kokoroSizedGraph, piperSizedGraph } from './lib/voice-sized.ts';

const CLAUSE = 'I can book you in for Monday at nine,';
const REPLY = `${CLAUSE} or on Tuesday at ten if that suits you better. The visit takes half an hour, \
and you need not bring anything. Which of the two shall I put down for you?`;
const VOICE = { voice: 'en-US-JennyNeural', language: 'en-US' };

/** `--pairs N` (default 40; 5 where neural), `--tts espeak|espeak-wasm|auto|piper|kokoro`, `--models DIR`, `--gate`. */
export async function run(args: readonly string[]): Promise<void> {
  const tts = textArg(args, 'tts') ?? 'auto';
  const isNeural = tts === 'piper' || tts === 'kokoro';
  const pairs = numberArg(args, 'pairs', isNeural ? 5 : 40);
  const madeDir = mkdtempSync(join(tmpdir(), 'tts-bench-'));
  const synthesizer = await openSynthesizer(args, { tts, madeDir });
  const cache = new PhraseCache({
    synthesizer: spokenSynthesizer(synthesizer),
    sizeBytesMax: 2 ** 24,
  });
  try {
    await cache.start();
    await measure(args, { synthesizer, cache, pairs });
  } finally {
    await cache.stop();
    rmSync(madeDir, { recursive: true });
  }
}

async function measure(
  args: readonly string[],
  parts: { readonly synthesizer: Synthesizer; readonly cache: PhraseCache; readonly pairs: number },
): Promise<void> {
  const { synthesizer, cache, pairs } = parts;
  await cache.prepare({ text: CLAUSE, ...VOICE });
  const sound = () => firstSoundMs(synthesizer);
  let audioMs = 0;
  const whole = async () => {
    const reply = await wholeReplyMs(synthesizer);
    audioMs = reply.audioMs;
    return reply.tookMs;
  };
  await sound();
  await whole();

  const clauses = await pairedRuns({ pairs, a: sound, b: whole });
  const cached = await pairedRuns({ pairs, a: () => firstSoundMs(cache), b: async () => 0 });

  const byClauses = ratios(clauses, (ms) => ms);
  const clauseMs = clauses.map(({ a }) => a);
  const cachedMs = cached.map(({ a }) => a);
  const wholeMs = clauses.map(({ b }) => b);
  const rows = [
    row('whole reply, then its first sound', wholeMs),
    row('first clause, as it comes', clauseMs),
    row('cached phrase', cachedMs),
  ];
  console.log(markdownTable(rows));
  const { engine } = synthesizer.report();
  const realTimeFactor = percentile(wholeMs, 50) / audioMs;
  printJson({ bench: 'tts-first-chunk', engine, ratio: byClauses, realTimeFactor, ...memory() });
  checkTargets(args, [
    { name: 'clause / whole reply', value: byClauses.median, limit: 0.3, tolerance: 0.1 },
    { name: 'cached phrase, ms', value: percentile(cachedMs, 50), limit: 1, tolerance: 0.1 },
  ]);
}

/** Without `--models`, neural voices are made: of the real sizes, with weights that mean nothing. */
async function openSynthesizer(
  args: readonly string[],
  { tts, madeDir }: { readonly tts: string; readonly madeDir: string },
): Promise<Synthesizer> {
  const book = await loadVoiceBook();
  const base = { book, clock: systemClock, logger: silentLogger };
  const espeak = espeakEngines({ ...base, voices: book });
  if (tts !== 'piper' && tts !== 'kokoro') return chooseSynthesizer({ tts, engines: espeak });
  const given = textArg(args, 'models');
  if (given === undefined) makeModels(tts, madeDir);
  const neural = {
    ...{ ...base, modelsDir: given ?? madeDir, childCount: 1 },
    phonemizerModule: new URL('../src/speech/tts/espeak/espeak-phonemizer.ts', import.meta.url)
      .href,
    phonemizer: { program: 'espeak-ng', moduleName: 'espeak-ng' },
  };
  const engines = [kokoroEngine(neural), piperEngine(neural), ...espeak];
  return chooseSynthesizer({ tts, engines });
}

function makeModels(tts: 'piper' | 'kokoro', folder: string): void {
  const path =
    tts === 'piper'
      ? writePiperVoice(folder, 'en_US-random-medium', { graph: piperSizedGraph() })
      : join(
          writeKokoro(folder, ['af_heart'], { graph: kokoroSizedGraph() }),
          'onnx',
          'model.onnx',
        );
  console.log(`${tts}: random weights, ${(statSync(path).size / 1e6).toFixed(0)} MB, float32`);
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
async function wholeReplyMs(synthesizer: Synthesizer) {
  const startedAtMs = performance.now();
  let samples = 0;
  for await (const pcm of synthesizer.speak({ text: REPLY, ...VOICE })) samples += pcm.length;
  return { tookMs: performance.now() - startedAtMs, audioMs: samples / 8 };
}

function row(way: string, values: readonly number[]) {
  return { way, 'p50 ms': percentile(values, 50), 'p99 ms': percentile(values, 99) };
}

function memory() {
  return { ownMemoryMb: Math.round(process.memoryUsage().rss / 1e6) };
}
