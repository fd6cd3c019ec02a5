/** What a Whisper of the real size costs: by window, by step, in our loop and in transformers.js. Its words mean nothing. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { env, Tensor, WhisperForConditionalGeneration } from '@huggingface/transformers';
import { prepareModels } from '../../models/prepare/prepare-models.ts';
import { DecoderRun } from '../../src/speech/stt/decoding/decoder-run.ts';
import { loadWhisperModel, type WhisperModel } from '../../src/speech/stt/whisper/whisper-model.ts';
import type { Precision } from './graph-builder.ts';
import { percentile } from './harness.ts';
import { WHISPER_BASE, writeWhisper } from './whisper-sized.ts';

/** Milliseconds of CPU, but for what is named otherwise. */
export interface SizedCost {
  readonly precision: Precision;
  readonly fileMb: number;
  readonly memoryMb: number;
  readonly loadMs: number;
  readonly encode5s: number;
  readonly encode10s: number;
  readonly encode30s: number;
  /** Four tokens over a window of 5 s and of 30 s. */
  readonly firstStep5s: number;
  readonly firstStep30s: number;
  readonly perToken5s: number;
  /** Twenty tokens of a partial checked in the first step, against twenty steps. */
  readonly draft20: number;
  /** An answer of `ANSWER_TOKENS`: our window of 5 s, and transformers.js. */
  readonly answerOurs: number;
  readonly answerTheirs: number;
}

/** As many as a sentence has. */
const ANSWER_TOKENS = 15;

const PREFIX = [425, 426, 429, 433];
const ANSWER = Array.from({ length: ANSWER_TOKENS }, (_, index) => 10 + index * 7);

/** Writes `whisper-base` with random weights into a folder of its own, measures it, and takes it away. */
export async function measureSized(precision: Precision, runs: number): Promise<SizedCost> {
  const modelsDir = mkdtempSync(join(tmpdir(), 'whisper-base-'));
  const folder = join(modelsDir, 'stt/whisper-base');
  try {
    writeWhisper(folder, WHISPER_BASE, { precision });
    await prepareModels(modelsDir);
    const [loadMs, model] = await cpuMs(() => loadWhisperModel(folder, 1));
    const ours = await ourCosts(model, runs);
    const memoryMb = memoryMbOf(folder);
    await model.close();
    const answerTheirs = await theirAnswer(folder, precision, runs);
    return {
      precision,
      fileMb: sizeMb(folder, precision),
      memoryMb,
      loadMs,
      ...ours,
      answerTheirs,
    };
  } finally {
    rmSync(modelsDir, { recursive: true });
  }
}

async function ourCosts(model: WhisperModel, runs: number) {
  const encode = (frames: number) =>
    model.encoder.encode({ values: new Float32Array(80 * frames).fill(0.1), frames });
  const [short, long] = [await encode(500), await encode(3000)];
  const steps = async (
    encoded: typeof short,
    first: readonly number[],
    next: readonly number[],
  ) => {
    const run = new DecoderRun(model.decoder, encoded);
    await run.step(first);
    for (const token of next) await run.step([token]);
  };
  const measure = (work: () => Promise<unknown>) => medianCpuMs(runs, work);
  const firstStep5s = await measure(() => steps(short, PREFIX, []));
  const twenty = Array.from({ length: 20 }, (_, index) => 20 + index);
  const whole20 = await measure(() => steps(short, PREFIX, twenty));
  return {
    encode5s: await measure(() => encode(500)),
    encode10s: await measure(() => encode(1000)),
    encode30s: await measure(() => encode(3000)),
    firstStep5s,
    firstStep30s: await measure(() => steps(long, PREFIX, [])),
    perToken5s: (whole20 - firstStep5s) / twenty.length,
    draft20: (await measure(() => steps(short, [...PREFIX, ...twenty], []))) / whole20,
    answerOurs: await measure(async () => steps(await encode(500), PREFIX, ANSWER)),
  };
}

/** The same model, given the same tokens one by one; it takes 30 s whatever was said. */
async function theirAnswer(folder: string, precision: Precision, runs: number): Promise<number> {
  env.allowRemoteModels = false;
  env.localModelPath = dirname(folder);
  const model = await WhisperForConditionalGeneration.from_pretrained(basename(folder), {
    dtype: precision === 'int8' ? 'q8' : 'fp32',
    device: 'cpu',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  const input = new Tensor('float32', new Float32Array(80 * 3000).fill(0.1), [1, 80, 3000]);
  let given: readonly number[] = [];
  const force = (inputIds: bigint[][], logits: Tensor) => {
    const token = ANSWER[(inputIds[0]?.length ?? 0) - PREFIX.length] ?? 0;
    (logits.data as Float32Array).fill(Number.NEGATIVE_INFINITY);
    (logits.data as Float32Array)[token] = 0;
    return logits;
  };
  const cost = await medianCpuMs(runs, async () => {
    const output = await model.generate({
      inputs: input,
      language: 'en',
      task: 'transcribe',
      max_new_tokens: ANSWER_TOKENS,
      logits_processor: [force],
    } as never);
    given = (output as Tensor).tolist().flat().map(Number);
  });
  await model.dispose();
  if (!ANSWER.every((token) => given.includes(token))) {
    throw new Error(`transformers.js was to say ${ANSWER.join(' ')} and said ${given.join(' ')}`);
  }
  return cost;
}

async function medianCpuMs(runs: number, work: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  for (let run = 0; run < runs; run += 1) costs.push((await cpuMs(work))[0]);
  return percentile(costs, 50);
}

async function cpuMs<Result>(work: () => Promise<Result>): Promise<[number, Result]> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, result];
}

/** Of a process of its own that has heard two seconds. */
function memoryMbOf(folder: string): number {
  const url = new URL('../../src/speech/stt/whisper/whisper-recognizer.ts', import.meta.url).href;
  const program = `const { openRecognizer } = await import(${JSON.stringify(url)});
    const utterance = (await openRecognizer(${JSON.stringify(folder)})).open({ language: 'en' });
    utterance.push(new Int16Array(16000).fill(1000));
    await utterance.transcribe({ isFinal: false, signal: new AbortController().signal });
    console.log(process.memoryUsage().rss / 2 ** 20);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program]);
  return Number(printed.toString());
}

function sizeMb(folder: string, precision: Precision): number {
  const ending = precision === 'int8' ? '_quantized' : '';
  const files = ['encoder_model', 'decoder_model_merged'];
  const bytes = files.map((name) => statSync(join(folder, 'onnx', `${name}${ending}.onnx`)).size);
  return bytes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
}
