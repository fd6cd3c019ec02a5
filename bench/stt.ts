/** Row 15, stt: our Whisper against transformers.js: words on our tiny model, cost on one of the real size. */
import { fileURLToPath } from 'node:url';
import { env, pipeline } from '@huggingface/transformers';
import { wordErrors } from '../src/speech/self-test/self-test.ts';
import { Upsampler } from '../src/speech/stt/features/resampler.ts';
import { openRecognizer } from '../src/speech/stt/whisper/whisper-recognizer.ts';
import {
  readPhrase,
  SPOKEN_PHRASES,
  type SpokenPhrase,
  TINY_WHISPER_DIR,
} from '../test/speech/spoken-phrases.ts';
import {
  checkTargets,
  markdownTable,
  numberArg,
  pairedRuns,
  percentile,
  printJson,
  ratios,
} from './lib/harness.ts';
import { measureSized, type SizedCost } from './lib/stt-sized.ts';

/** Audio comes in packets; what is left to do after the last one is the final latency. */
const PACKET_SAMPLES = 160;

/** Interval of interim results during speech. */
const PACKETS_PER_PARTIAL = 20;

interface Engine {
  /** Hears one phrase; tells how long it took after the last packet. */
  hear(phrase: SpokenPhrase): Promise<{ readonly text: string; readonly latencyMs: number }>;
}

interface SttRun {
  readonly latencyMsP50: number;
  readonly latencyMsP99: number;
  readonly cpuMsPerSecond: number;
  readonly wordErrorPercent: number;
}

/** `npm run bench -- stt [--pairs 5] [--runs 5] [--gate]` */
export async function run(args: readonly string[]): Promise<void> {
  await runTiny(args);
  await runSized(args);
  console.log('sherpa-onnx-node: left out, it reads exports of its own only');
}

async function runTiny(args: readonly string[]): Promise<void> {
  const [ours, asked, theirs] = [
    await openOurs(0),
    await openOurs(PACKETS_PER_PARTIAL),
    await openTransformers(),
  ];
  for (const engine of [ours, asked, theirs]) await hearAll(engine);
  const withPartials = await hearAll(asked);
  const results = await pairedRuns({
    pairs: numberArg(args, 'pairs', 5),
    a: () => hearAll(ours),
    b: () => hearAll(theirs),
  });

  const last = results.at(-1);
  if (last === undefined) return;
  const rows = [
    { engine: 'ours', ...last.a },
    { engine: 'ours, after partials every 400 ms', ...withPartials },
    { engine: 'transformers.js', ...last.b },
  ];
  console.log(markdownTable(rows));
  const latency = ratios(results, ({ latencyMsP50 }) => latencyMsP50);
  printJson({ bench: 'stt', rows, latency });
  checkTargets(args, [
    { name: 'final latency over transformers.js', value: latency.median, limit: 1, tolerance: 0 },
    {
      name: 'word errors beyond transformers.js, %',
      value: last.a.wordErrorPercent - last.b.wordErrorPercent,
      limit: 0,
      tolerance: 0,
    },
  ]);
}

async function hearAll(engine: Engine): Promise<SttRun> {
  const latenciesMs: number[] = [];
  let [errors, words, audioSeconds] = [0, 0, 0];
  const before = process.cpuUsage();
  for (const phrase of SPOKEN_PHRASES) {
    const { text, latencyMs } = await engine.hear(phrase);
    latenciesMs.push(latencyMs);
    const counted = wordErrors(phrase.text, text);
    errors += counted.errors;
    words += counted.words;
    audioSeconds += readPhrase(phrase.file).length / 8000;
  }
  const { user, system } = process.cpuUsage(before);
  return {
    latencyMsP50: percentile(latenciesMs, 50),
    latencyMsP99: percentile(latenciesMs, 99),
    cpuMsPerSecond: (user + system) / 1000 / audioSeconds,
    wordErrorPercent: (100 * errors) / words,
  };
}

async function runSized(args: readonly string[]): Promise<void> {
  const runs = numberArg(args, 'runs', 5);
  const [whole, small] = [await measureSized('float32', runs), await measureSized('int8', runs)];
  console.log(markdownTable([whole, small].map((cost) => ({ ...cost }))));
  const share = (of: keyof SizedCost) => Number(small[of]) / Number(whole[of]);
  const sizedRatios = {
    'int8 / float32, encoder 5 s': share('encode5s'),
    'int8 / float32, per token': share('perToken5s'),
    '5 s / 30 s, int8': small.encode5s / small.encode30s,
    'ours / transformers.js, float32': whole.answerOurs / whole.answerTheirs,
    'ours / transformers.js, int8': small.answerOurs / small.answerTheirs,
  };
  console.log(markdownTable([sizedRatios]));
  printJson({ bench: 'stt-sized', rows: [whole, small], ratios: sizedRatios });
  checkTargets(args, [
    {
      name: 'answer of real size over transformers.js, int8',
      value: small.answerOurs / small.answerTheirs,
      limit: 0.5,
      tolerance: 0,
    },
    {
      name: '20 tokens after a partial over 20 steps',
      value: small.draft20,
      limit: 0.5,
      tolerance: 0,
    },
  ]);
}

/** @param packetsPerPartial 0: nothing is asked before the end. */
async function openOurs(packetsPerPartial: number): Promise<Engine> {
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  return {
    hear: async ({ file, language }) => {
      const pcm = readPhrase(file);
      const utterance = recognizer.open({ language });
      const { signal } = new AbortController();
      for (let start = 0; start < pcm.length; start += PACKET_SAMPLES) {
        utterance.push(pcm.subarray(start, start + PACKET_SAMPLES));
        const packets = start / PACKET_SAMPLES + 1;
        const isAsked = packetsPerPartial > 0 && packets % packetsPerPartial === 0;
        if (isAsked) await utterance.transcribe({ isFinal: false, signal });
      }
      const startMs = performance.now();
      const { text } = await utterance.transcribe({ isFinal: true, signal });
      return { text, latencyMs: performance.now() - startMs };
    },
  };
}

async function openTransformers(): Promise<Engine> {
  env.allowRemoteModels = false;
  env.localModelPath = fileURLToPath(new URL('../models/tiny/', import.meta.url));
  const recognize = await pipeline('automatic-speech-recognition', 'whisper', {
    dtype: 'fp32',
    device: 'cpu',
  });
  return {
    hear: async ({ file, language }) => {
      const audio = new Upsampler().push(readPhrase(file));
      const startMs = performance.now();
      const output = await recognize(audio, { language, task: 'transcribe' });
      const text = Array.isArray(output) ? output[0]?.text : output.text;
      return { text: text ?? '', latencyMs: performance.now() - startMs };
    },
  };
}
