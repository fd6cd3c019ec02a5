/** Row 15, stt: our Whisper against transformers.js, on the same model and the same utterances. */
import { fileURLToPath } from 'node:url';
import { env, pipeline } from '@huggingface/transformers';
import { LineUpsampler } from '../src/speech/line-upsampler.ts';
import { openRecognizer } from '../src/speech/whisper/whisper-recognizer.ts';
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
import { wordErrors } from './lib/word-errors.ts';

/** Audio comes in packets; what is left to do after the last one is the final latency. */
const PACKET_SAMPLES = 160;

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

/** `npm run bench -- stt [--pairs 5] [--gate]` */
export async function run(args: readonly string[]): Promise<void> {
  const [ours, theirs] = await Promise.all([openOurs(), openTransformers()]);
  await Promise.all([hearAll(ours), hearAll(theirs)]);
  const results = await pairedRuns({
    pairs: numberArg(args, 'pairs', 5),
    a: () => hearAll(ours),
    b: () => hearAll(theirs),
  });

  const last = results.at(-1);
  if (last === undefined) return;
  const rows = [
    { engine: 'ours', ...last.a },
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

async function openOurs(): Promise<Engine> {
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  return {
    hear: async ({ file, language }) => {
      const pcm = readPhrase(file);
      const utterance = recognizer.open({ language });
      for (let start = 0; start < pcm.length; start += PACKET_SAMPLES) {
        utterance.push(pcm.subarray(start, start + PACKET_SAMPLES));
      }
      const startMs = performance.now();
      const signal = new AbortController().signal;
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
      const audio = new LineUpsampler().push(readPhrase(file));
      const startMs = performance.now();
      const output = await recognize(audio, { language, task: 'transcribe' });
      const text = Array.isArray(output) ? output[0]?.text : output.text;
      return { text: text ?? '', latencyMs: performance.now() - startMs };
    },
  };
}
