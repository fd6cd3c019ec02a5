/** Composition root of the self-test: the installed voices, recognisers and language model, each by itself. */
import { readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { silentLogger as logger } from '../lib/logger.ts';
import { type ModelTimes, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import { machineShare, memoryBytes, TINY_DIR } from '../speech/hearing/choose-hearing.ts';
import type { EngineOrder } from '../speech/hearing/hearing-messages.ts';
import type { SpeechEngine } from '../speech/models/speech-engine.ts';
import { TINY_MODEL_LANGUAGES } from '../speech/self-test/reference-sentences.ts';
import {
  type OpenRecognizer,
  type RecognizerUnderTest,
  testSpeech,
  type VoiceUnderTest,
} from '../speech/self-test/self-test.ts';
import type {
  LanguageModelResult,
  Machine,
  SelfTestReport,
} from '../speech/self-test/self-test-report.ts';
import { forkRecognizer } from '../speech/stt/pool/recognizer-lane.ts';
import { RecognizerPool } from '../speech/stt/pool/recognizer-pool.ts';
import {
  moonshineEngine,
  transformersEngine,
  whisperEngine,
} from '../speech/stt/recognizer-engines.ts';
import { ttsEngines } from '../speech/tts/tts-engines.ts';
import { loadVoiceBook } from '../speech/tts/voices/voice-book.ts';
import { composeModel } from './llm.ts';

const PACKAGE = new URL('../../package.json', import.meta.url);

/** Large weights from a slow disk. */
const MODEL_LOAD_MS_MAX = 120_000;

/** A sentence that takes longer is not heard at all. */
const ANSWER_MS_MAX = 60_000;

const QUESTIONS = [
  'What are your opening hours?',
  'I would like to book an appointment.',
  'Can I speak to a person?',
];

const PROMPT =
  'You are the receptionist of a dental practice, open on weekdays from nine to five. Answer in one short sentence.';

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
  const { voices, recognizers } = await testSpeech({
    ...{ isFull, engineMsMax, onProgress, clock },
    voices: await installedVoices(config),
    recognizers: installedRecognizers(config, {
      threads: machine.threads,
      providers: config.ONNX_PROVIDERS,
    }),
  });
  onProgress('language model');
  const languageModel = await testModel(config);
  const tookSeconds = (clock.nowMs() - beganAtMs) / 1000;
  return withoutPaths({ machine, voices, recognizers, languageModel, tookSeconds }, config);
}

function thisMachine(): Machine {
  const cores = availableParallelism();
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
  return {
    ...{ offhook: version, node: process.versions.node, cores },
    platform: `${process.platform} ${process.arch}`,
    memoryGb: Math.round(memoryBytes() / 2 ** 30),
    ...machineShare({ cores, memoryBytes: memoryBytes() }),
  };
}

/** Those that the setting allows; of espeak-ng's two builds the better one. */
async function installedVoices(config: Config): Promise<readonly VoiceUnderTest[]> {
  const { TTS, MODELS_DIR: modelsDir, ONNX_PROVIDERS: providers } = config;
  const book = await loadVoiceBook();
  const all = ttsEngines({ modelsDir, providers, book, clock, logger });
  const named = all.filter(({ name }) => name === TTS);
  const found: VoiceUnderTest[] = [];
  for (const engine of named.length > 0 ? named : all) {
    const probe = await engine.probe();
    const { name, isUniversal } = engine;
    const isSpare = isUniversal && found.some((other) => other.isUniversal);
    if (isSpare || (!probe.isUsable && named.length === 0)) continue;
    const open = () => {
      if (probe.isUsable) return engine.open({ version: probe.version, passedOver: [] });
      throw new Error(`${probe.reason}; ${probe.remedy}`);
    };
    const version = probe.isUsable ? probe.version : '';
    found.push({ engine: name, version, isUniversal, open });
  }
  return found;
}

/** How ONNX Runtime runs a model. */
type Runtime = Pick<EngineOrder, 'threads' | 'providers'>;

/** Installed models; the repository's tiny one where there is no other, unless the setting names an engine. */
function installedRecognizers(
  { STT, MODELS_DIR }: Config,
  runtime: Runtime,
): readonly RecognizerUnderTest[] {
  const all = [whisperEngine, moonshineEngine, transformersEngine];
  const named = all.filter(({ name }) => name === STT);
  const isAuto = named.length === 0;
  const engines = isAuto ? all.filter(({ isOnRequest }) => isOnRequest !== true) : named;
  const inFolder = (folder: string) =>
    engines.flatMap((engine) =>
      engine.find(folder).map((model) => recognizerUnderTest(engine, model, runtime)),
    );
  const installed = inFolder(MODELS_DIR);
  if (installed.length > 0) return installed;
  if (isAuto) return inFolder(TINY_DIR);
  const open = () => Promise.reject(new Error(`no ${STT} model in "${MODELS_DIR}"; STT names it`));
  return [{ engine: STT, model: STT, languages: null, open }];
}

function recognizerUnderTest(
  engine: SpeechEngine,
  model: string,
  runtime: Runtime,
): RecognizerUnderTest {
  const isTiny = resolve(model).startsWith(TINY_DIR);
  // A Moonshine model has one language, which its name ends with where it is not English.
  const [, language = 'en'] = /-([a-z]{2})$/.exec(basename(model)) ?? [];
  const languages = engine.name === 'moonshine' ? [language] : null;
  return {
    engine: engine.name,
    model: isTiny ? `tiny ${basename(model)}` : basename(model),
    languages: isTiny ? TINY_MODEL_LANGUAGES : languages,
    open: () => openRecognizer(engine, model, runtime),
  };
}

/** In a child process, as the server runs it. @throws {Error} naming what is wrong with the model. */
async function openRecognizer(
  { moduleUrl }: SpeechEngine,
  model: string,
  runtime: Runtime,
): Promise<OpenRecognizer> {
  const note = () => undefined;
  const pool = new RecognizerPool({
    ...{ moduleUrl, ...runtime, size: 1, fork: forkRecognizer, clock, note },
  });
  const outcome = await pool.start([model]);
  if (outcome.model === null) {
    await pool.stop();
    throw new Error(outcome.failures.join('; '));
  }
  const line = pool.join();
  return {
    hear: async (pcm, language) => {
      const utterance = line.open({ language });
      line.append(utterance, pcm);
      const request = line.request(utterance, { priority: 'final' });
      const cancelLimit = clock.after(ANSWER_MS_MAX, () => request.cancel());
      try {
        return (await request.answer).text;
      } finally {
        cancelLimit();
        line.close(utterance);
      }
    },
    close: () => pool.stop(),
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
    return result(error instanceof Error ? error.message : String(error));
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

/** What people attach to an issue names no folder, user or server of theirs. */
function withoutPaths(report: SelfTestReport, { MODELS_DIR, DATA_DIR }: Config): SelfTestReport {
  const hidden: readonly (readonly [string, string])[] = [
    [resolve(MODELS_DIR), 'MODELS_DIR'],
    [resolve(DATA_DIR), 'DATA_DIR'],
    [resolve(import.meta.dirname, '../..'), 'OFFHOOK'],
    [homedir(), '~'],
  ];
  const clean = (text: string) =>
    hidden
      .reduce((left, [path, name]) => left.replaceAll(path, name), text)
      .replace(/(https?:\/\/)(?!127\.0\.0\.1|localhost)[^\s"/]+/g, '$1…');
  return JSON.parse(
    JSON.stringify(report, (_key, value) => (typeof value === 'string' ? clean(value) : value)),
  );
}
