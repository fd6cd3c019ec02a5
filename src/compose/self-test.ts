/** Composition root of the self-test: the installed voices, recognisers and language model, each by itself, and an estimate of the recognisers that are not installed. */
import { availableParallelism, homedir } from 'node:os';
import { resolve } from 'node:path';
import { writeModel } from '../../models/prepare/onnx/onnx-writer.ts';
import type { Config } from '../config/config.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { silentLogger as logger } from '../lib/logger.ts';
import { type ModelTimes, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import { type InferenceSession, loadOnnxRuntime, Tensor } from '../lib/onnx/onnx-session.ts';
import { packageVersion } from '../lib/package-version.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { catalogueOf, readShelf } from '../model-store/server-downloads/model-catalogue.ts';
import { machineShare, memoryBytes } from '../speech/hearing/choose-hearing.ts';
import {
  installedRecognizers,
  installedVoices,
  testSpeech,
} from '../speech/self-test/self-test.ts';
import {
  answerMsOf,
  isEstimable,
  type LanguageModelResult,
  type Machine,
  type MachineSpeed,
  type SelfTestReport,
  type SpeedEstimate,
  type SpeedEstimates,
  withoutPaths,
} from '../speech/self-test/self-test-report.ts';
import { composeModel } from './llm.ts';

/** Large weights from a slow disk. */
const MODEL_LOAD_MS_MAX = 120_000;

/** An answer that takes longer is none. */
const ANSWER_MS_MAX = 60_000;

const QUESTIONS = [
  'What are your opening hours?',
  'I would like to book an appointment.',
  'Can I speak to a person?',
];

const PROMPT =
  'You are the receptionist of a dental practice, open on weekdays from nine to five. Answer in one short sentence.';

/** Settings of one run of the self-test. */
export interface SelfTestOptions {
  readonly config: Config;
  /** Whether each voice says every sentence of its language. */
  readonly isFull: boolean;
  /** Time limit of each engine, in milliseconds; its remaining tests are left out. */
  readonly engineMsMax: number;
  /** Called often, with the current step. */
  readonly onProgress: (text: string) => void;
}

/** Tests the installed engines that the settings allow. Failures of engines are in the report. */
export async function runSelfTest(options: SelfTestOptions): Promise<SelfTestReport> {
  const { config, isFull, engineMsMax, onProgress } = options;
  const beganAtMs = clock.nowMs();
  const machine = thisMachine();
  const engines = { modelsDir: config.MODELS_DIR, providers: config.ONNX_PROVIDERS, clock };
  const { voices, recognizers } = await testSpeech({
    ...{ isFull, engineMsMax, onProgress, clock },
    voices: await installedVoices({ ...engines, tts: config.TTS }),
    recognizers: installedRecognizers({ ...engines, stt: config.STT, threads: machine.threads }),
  });
  onProgress('speed of this machine');
  const estimates = await estimateMissing(config);
  onProgress('language model');
  const languageModel = await testModel(config);
  const tookSeconds = (clock.nowMs() - beganAtMs) / 1000;
  return withoutPaths(
    { machine, voices, recognizers, estimates, languageModel, tookSeconds },
    {
      [resolve(config.MODELS_DIR)]: 'MODELS_DIR',
      [resolve(config.DATA_DIR)]: 'DATA_DIR',
      [resolve(import.meta.dirname, '../..')]: 'OFFHOOK',
      [homedir()]: '~',
    },
  );
}

function thisMachine(): Machine {
  const cores = availableParallelism();
  return {
    ...{ offhook: packageVersion(), node: process.versions.node, cores },
    platform: `${process.platform} ${process.arch}`,
    memoryGb: Math.round(memoryBytes() / 2 ** 30),
    ...machineShare({ cores, memoryBytes: memoryBytes() }),
  };
}

const UNTIMED: ModelTimes = { answered: () => undefined, failed: () => undefined };

async function testModel(config: Config): Promise<LanguageModelResult> {
  const parts = await composeModel({
    ...{ config, clock, log: logger, times: UNTIMED, counts: UNCOUNTED },
  });
  const { model, warmModel } = parts;
  const firstTextMs: number[] = [];
  const result = (failure: string | null): LanguageModelResult => {
    const { engine, reason } = model.report();
    return { engine, isRuleBook: model.ignoresPrompts, firstTextMs, reason, failure };
  };
  try {
    // A server that does not answer is no failure where another model stands in.
    await model.check().catch(() => undefined);
    await warmModel(AbortSignal.timeout(MODEL_LOAD_MS_MAX)).catch(() => undefined);
    for (const question of QUESTIONS) {
      const firstMs = await firstTextAfterMs(model, question);
      if (firstMs !== null) firstTextMs.push(firstMs);
    }
    if (firstTextMs.length === 0) return result('it answered without a word');
    const { replacement } = model.report();
    // With LLM=auto an absent Ollama is no failure: the rule book answers.
    const isWanted = config.LLM !== 'auto' || replacement?.engine.startsWith('llama-cpp/');
    return result(isWanted ? (replacement?.how ?? null) : null);
  } catch (error) {
    return result(messageOf(error));
  } finally {
    await model.stop?.();
  }
}

/** Null for an answer without a word. */
async function firstTextAfterMs(
  model: Awaited<ReturnType<typeof composeModel>>['model'],
  question: string,
): Promise<number | null> {
  const beganAtMs = clock.nowMs();
  const messages = [
    { role: 'system', content: PROMPT },
    { role: 'user', content: question },
  ] as const;
  for await (const event of model.stream({
    messages,
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  })) {
    if (event.kind === 'text' && event.text.trim() !== '') return clock.nowMs() - beganAtMs;
  }
  return null;
}

type Settings = Pick<Config, 'MODELS_DIR' | 'MODELS_PROFILE' | 'OLLAMA_HOST'>;

/** Shape of a product, and how often it is run; the fastest run counts, since others share the core. */
interface Product {
  readonly rows: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly runs: number;
}

/** Matrix product of an encoder of width 512 on three seconds of audio: 1 MB of weights. */
const MATRIX: Product = { rows: 150, inputs: 512, outputs: 2048, runs: 60 };

/** 64 MB of weights, which a cache of 32 MB does not hold. */
const VECTOR: Product = { rows: 1, inputs: 1024, outputs: 65_536, runs: 15 };

/** `TensorProto.DataType` of ONNX. */
const FLOAT = 1;
const INT8 = 3;

/**
 * Estimates the recognisers that are not installed. Takes half a second of one core, and holds up its process: not for a server.
 * Never rejects.
 *
 * @param manifestFile the list of the repository unless given.
 */
export async function estimateMissing(
  config: Settings,
  manifestFile?: string,
): Promise<SpeedEstimates> {
  try {
    return { list: await estimatesOf(config, manifestFile), failure: null };
  } catch (error) {
    return { list: [], failure: messageOf(error) };
  }
}

async function estimatesOf(
  config: Settings,
  manifestFile: string | undefined,
): Promise<readonly SpeedEstimate[]> {
  // Language models are not estimated, so no Ollama is asked.
  const shelf = await readShelf({ ...config, LLM: 'scripted' }, manifestFile);
  const { models, profiles } = await catalogueOf(shelf);
  const missing = models.filter(({ id, state }) => state !== 'there' && isEstimable(id));
  if (missing.length === 0) return [];
  const speed = await measureMachine();
  return missing.map(({ id, name: model }) => ({
    model,
    profiles: profiles.filter(({ modelIds }) => modelIds.includes(id)).map(({ name }) => name),
    answerMs: answerMsOf(id, speed),
  }));
}

/** @throws {Error} where ONNX Runtime does not load. */
export async function measureMachine(): Promise<MachineSpeed> {
  return {
    matrixPerSecond: await productsPerSecond(MATRIX),
    vectorPerSecond: await productsPerSecond(VECTOR),
  };
}

async function productsPerSecond(product: Product): Promise<number> {
  const { rows, inputs, outputs, runs } = product;
  const { InferenceSession } = await loadOnnxRuntime();
  const settings = { intraOpNumThreads: 1, interOpNumThreads: 1, executionProviders: ['cpu'] };
  const session = await InferenceSession.create(productGraph(product), settings);
  try {
    const values = Float32Array.from({ length: rows * inputs }, (_, index) => Math.sin(index));
    const x = new Tensor('float32', values, [rows, inputs]);
    // The first run makes room.
    await session.run({ x });
    let leastSeconds = Number.POSITIVE_INFINITY;
    for (let run = 0; run < runs; run += 1) {
      leastSeconds = Math.min(leastSeconds, await coreSeconds(session, x));
    }
    return (rows * inputs * outputs) / leastSeconds;
  } finally {
    await session.release();
  }
}

/** Time of the processor, not of the clock: a busy machine runs others meanwhile. */
async function coreSeconds(session: InferenceSession, x: Tensor): Promise<number> {
  const before = process.cpuUsage();
  await session.run({ x });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** A dynamically quantised matrix product, as `quantize_dynamic` writes those of Whisper. Zeros as weights take the same time. */
function productGraph({ inputs, outputs }: Product): Uint8Array<ArrayBuffer> {
  const dims = new BigInt64Array([BigInt(inputs), BigInt(outputs)]);
  return writeModel({
    name: 'product',
    nodes: [
      { type: 'ConstantOfShape', inputs: ['dims'], outputs: ['zeros'] },
      { type: 'Cast', inputs: ['zeros'], outputs: ['weights'], attributes: { to: INT8 } },
      { type: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['small', 'scale', 'zero'] },
      { type: 'MatMulInteger', inputs: ['small', 'weights', 'zero'], outputs: ['sum'] },
      { type: 'Cast', inputs: ['sum'], outputs: ['float'], attributes: { to: FLOAT } },
      { type: 'Mul', inputs: ['float', 'scale'], outputs: ['y'] },
    ],
    tensors: [{ name: 'dims', dims: [2], values: dims }],
    inputs: [{ name: 'x', element: 'float32', dims: ['rows', inputs] }],
    outputs: [{ name: 'y', element: 'float32', dims: ['rows', outputs] }],
  });
}
