/** Composition root of the self-test: the installed voices, recognisers and language model, each by itself. */
import { availableParallelism, homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { systemClock as clock } from '../../lib/clock.ts';
import { silentLogger as logger } from '../../lib/logger.ts';
import { type ModelTimes, UNCOUNTED } from '../../lib/metrics/model-metrics.ts';
import { packageVersion } from '../../lib/package-version.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import { machineShare, memoryBytes } from '../../speech/hearing/choose-hearing.ts';
import {
  installedRecognizers,
  installedVoices,
  testSpeech,
} from '../../speech/self-test/self-test.ts';
import {
  type LanguageModelResult,
  type Machine,
  type SelfTestReport,
  withoutPaths,
} from '../../speech/self-test/self-test-report.ts';
import { composeModel } from '../llm.ts';
import { estimateMissing } from './machine-speed.ts';

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
  /** Time for each engine; what is left over then is left out. */
  readonly engineMsMax: number;
  /** Told what is being done, often. */
  readonly onProgress: (text: string) => void;
}

/** Tests what the settings allow. Failures of engines are in the report. */
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
      [resolve(import.meta.dirname, '../../..')]: 'OFFHOOK',
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
