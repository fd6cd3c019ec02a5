/** The operator's command that downloads models: `npm run models -- …`. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { CommanderError } from 'commander';
import { EnvHttpProxyAgent } from 'undici';
import { type Preparation, prepareModels } from '../../models/prepare/prepare-models.ts';
import { llamaFolderOf } from '../compose/llm.ts';
import { type Config, readProcessConfig } from '../config/config.ts';
import { ConfigError } from '../config/secret-files.ts';
import { systemClock } from '../lib/clock.ts';
import { packageVersion } from '../lib/package-version.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { installCommand, isLlamaInstalled } from '../llm/llama-cpp/llama-program.ts';
import { makeBundleRun, takeBundleRun } from '../model-store/bundle.ts';
import { DEFAULT_LIMITS } from '../model-store/download-file.ts';
import { fetchModels, ollamaAnswers } from '../model-store/download-models.ts';
import { HttpSource } from '../model-store/http-source.ts';
import {
  type FilesModel,
  loadManifest,
  type Manifest,
  type Model,
  modelsOf,
  placeOf,
  usesOllama,
  withOneLanguageModel,
} from '../model-store/manifest.ts';
import { checkRun, listRun, useText } from '../model-store/model-files.ts';
import { lockFolder } from '../model-store/model-lock.ts';
import { diskError, ModelsError, type ModelsFailure } from '../model-store/models-error.ts';
import { plainText, type Screen } from '../model-store/progress.ts';
import { whisperEngine } from '../speech/stt/recognizer-engines.ts';
import { sileroEngine } from '../speech/vad/silero/silero-engine.ts';
import { estimatesText, SELF_TEST_ENGINE_S_MAX, selfTestResult } from './admin-self-test.ts';
import { installLlama } from './install-llama.ts';
import { type ModelsOptions, modelsProgram } from './models-program.ts';

/** Its token goes there and nowhere else. */
const TOKEN_ORIGIN = 'https://huggingface.co';

/** EX_CONFIG and EX_TEMPFAIL of sysexits.h. */
const EXIT = { failed: 1, usage: 2, wrong: 3, tempFail: 75, config: 78, interrupted: 130 } as const;

const EXIT_OF: Readonly<Record<ModelsFailure, number>> = {
  usage: EXIT.usage,
  network: EXIT.tempFail,
  busy: EXIT.tempFail,
  refused: EXIT.failed,
  'disk-full': EXIT.failed,
  disk: EXIT.failed,
  unverified: EXIT.wrong,
  'wrong-content': EXIT.wrong,
  cancelled: EXIT.interrupted,
};

const screen: Screen = {
  isTerminal: process.stdout.isTTY === true,
  // Some terminals say 0: they do not know.
  columns: process.stdout.columns || 80,
  write: (text) => process.stdout.write(text),
  // Obeys NO_COLOR, and colours nothing where it is not a terminal.
  paint: (style, text) => styleText(style, text, { stream: process.stdout }),
  // The server that has started this process listens.
  report:
    process.send && ((report) => process.send?.(report, undefined, undefined, () => undefined)),
};

/** Parameters of all runs. */
interface Desk {
  readonly config: Config;
  readonly manifest: Manifest;
  readonly manifestText: string;
  readonly models: readonly Model[];
  readonly signal: AbortSignal;
}

async function run(words: ModelsOptions, signal: AbortSignal): Promise<void> {
  const config = readProcessConfig();
  const { manifest, text: manifestText } = await loadManifest(words.manifest);
  const profile = words.profile ?? config.MODELS_PROFILE;
  const models = modelsOf(manifest, { profile, only: words.only });
  const desk = { config, manifest, manifestText, models, signal };
  if (words.list) return list(words, desk);
  if (words.check) return check(desk);
  if (words.fromBundle !== undefined) return unpack(words.fromBundle, desk);
  await fetch(words, desk);
}

async function list({ manifest: file }: ModelsOptions, { config, manifest }: Desk): Promise<void> {
  await listRun(manifest, { modelsDir: config.MODELS_DIR, screen });
  const { estimateMissing } = await import('../compose/self-test.ts');
  const estimates = await estimateMissing(config, file);
  const isEmpty = estimates.failure === null && estimates.list.length === 0;
  if (!isEmpty) screen.write(`\n${estimatesText(estimates)}\n`);
}

async function check({ config, models, signal }: Desk): Promise<void> {
  const modelsDir = config.MODELS_DIR;
  // Without a file of it the language model is Ollama's, which checks its own.
  const isThere = (model: Model) => model.kind === 'gguf' && isPartlyThere(model, modelsDir);
  const hasOllama = async () => !models.some(isThere);
  const checked = await withOneLanguageModel(models, config, hasOllama);
  const state = await checkRun(checked, { modelsDir, screen, signal });
  if (state !== 'right') process.exitCode = state === 'wrong' ? EXIT.wrong : EXIT.failed;
}

async function unpack(bundle: string, { config, manifest, models, signal }: Desk): Promise<void> {
  const modelsDir = config.MODELS_DIR;
  await takeBundleRun({ bundle, modelsDir, manifest, screen, clock: systemClock, signal });
  await prepare(modelsDir);
  sayNextStart(config, models);
  const llamaFolder = llamaFolderOf(config);
  const isMissing = !isLlamaInstalled(llamaFolder);
  if (
    isMissing &&
    models.some((model) => model.kind === 'gguf' && isPartlyThere(model, modelsDir))
  ) {
    screen.write(`The language model needs llama.cpp: ${installCommand(llamaFolder)}\n`);
  }
}

/** Whether any file of the model lies in its place. */
function isPartlyThere(model: FilesModel, modelsDir: string): boolean {
  return model.files.some((file) => existsSync(join(modelsDir, placeOf(model, file))));
}

async function fetch(words: ModelsOptions, { models: listed, ...desk }: Desk): Promise<void> {
  const { config, signal } = desk;
  const dispatcher = new EnvHttpProxyAgent({ allowH2: false });
  const token = config.HF_TOKEN;
  try {
    const host = config.OLLAMA_HOST;
    // Ollama's models are not part of an archive.
    const hasOllama = async () =>
      words.offlineBundle === undefined && ollamaAnswers({ host, dispatcher, signal });
    const models = await withOneLanguageModel(listed, config, hasOllama);
    const { failures, files } = await fetchModels({
      models,
      modelsDir: config.MODELS_DIR,
      mirror: config.MODELS_BASE_URL ?? null,
      ollamaHost: usesOllama(config) ? config.OLLAMA_HOST : null,
      source: new HttpSource({
        dispatcher,
        userAgent: `Offhook/${packageVersion()}`,
        token: token === undefined ? null : { origin: TOKEN_ORIGIN, token },
      }),
      dispatcher,
      clock: systemClock,
      limits: DEFAULT_LIMITS,
      allowUnverified: words.allowUnverified === true,
      signal,
      screen,
    });
    if (failures.length > 0) return giveUp(failures);
    const bundle = words.offlineBundle;
    if (bundle === undefined && models.some(({ kind }) => kind === 'gguf')) {
      await installLlama(llamaFolderOf(config), { screen, signal });
    }
    await prepare(config.MODELS_DIR);
    sayNextStart(config, models);
    const { MODELS_DIR: modelsDir } = config;
    if (bundle !== undefined) {
      await makeBundleRun({
        ...desk,
        ...{ models, bundle, modelsDir, files, screen, clock: systemClock },
      });
    } else if (words.selfTest && words.only.length === 0) {
      await proveModels(config);
    }
  } finally {
    await dispatcher.destroy();
  }
}

/** Rewrites the graphs that the server would run slower as they are exported. */
async function prepare(modelsDir: string): Promise<void> {
  const lock = lockFolder(modelsDir);
  try {
    const preparations = await prepareModels(modelsDir);
    for (const line of preparations.flatMap(preparationLine)) screen.write(`${line}\n`);
  } catch (error) {
    throw diskError(error, modelsDir);
  } finally {
    lock.release();
  }
}

function preparationLine(preparation: Preparation): readonly string[] {
  const { kind, path } = preparation;
  switch (kind) {
    case 'prepared':
      return [
        `${screen.paint('green', 'prepared')}  ${path}${preparation.isNew ? '' : '  was there'}`,
      ];
    case 'not-possible':
      return [
        `${screen.paint('yellow', 'not prepared')}  ${path}: ${plainText(preparation.reason)}; the server runs it as it is, slower`,
      ];
    case 'not-needed':
      return [];
    default:
      return preparation satisfies never;
  }
}

/** Names the models that the server will use. */
function sayNextStart(config: Config, models: readonly Model[]): void {
  const { MODELS_DIR } = config;
  const firstOf = { vad: sileroEngine.find(MODELS_DIR)[0], stt: whisperEngine.find(MODELS_DIR)[0] };
  const lines = [
    `At its next start the server looks for models in "${MODELS_DIR}":`,
    ...models.map((model) => `  ${model.name}: ${useText(model)}`),
    ...Object.entries(firstOf).flatMap(([job, path]) =>
      path === undefined ? [] : [`  ${job}: "${path}" comes first`],
    ),
    'GET /readyz and the log say which models are in use, and why.',
  ];
  screen.write(`${lines.join('\n')}\n`);
}

/** Runs the self-test on the installed models; the process exits with 1 where an engine fails. */
async function proveModels(config: Config): Promise<void> {
  screen.write('\nSelf-test: about two minutes.\n');
  const { runSelfTest } = await import('../compose/self-test.ts');
  const report = await runSelfTest({
    ...{ config, isFull: false, engineMsMax: 1000 * SELF_TEST_ENGINE_S_MAX },
    onProgress: (text) => {
      if (screen.isTerminal) screen.write(`\r${text}\u001b[K`);
    },
  });
  const { text, isPassed, hasAgent } = selfTestResult(report);
  screen.write(`${screen.isTerminal ? '\r\u001b[K' : ''}${text}\n\n`);
  if (!isPassed) process.exitCode = EXIT.failed;
  else if (hasAgent) screen.write('A real agent now answers: npm start\n');
  else
    screen.write(
      'No language model answers yet: calls get the rule book (docs/language-models.md)\n',
    );
}

/** Prints the failures; the worst decides the exit status. */
function giveUp(failures: readonly ModelsError[]): void {
  for (const { message } of failures) process.stderr.write(`${plainText(message)}\n`);
  const worst = failures.map(({ failure }) => EXIT_OF[failure]);
  const order = [EXIT.interrupted, EXIT.wrong, EXIT.failed, EXIT.usage, EXIT.tempFail];
  process.exitCode = order.find((status) => worst.includes(status)) ?? EXIT.failed;
}

/** Commander prints its own errors. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  if (stopping.signal.aborted) return EXIT.interrupted;
  process.stderr.write(`${messageOf(error)}\n`);
  if (error instanceof ModelsError) return EXIT_OF[error.failure];
  return error instanceof ConfigError ? EXIT.config : EXIT.failed;
}

const stopping = new AbortController();
// A second one ends the process as it would any other: the first takes the handler away.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
// The server that has started this process is gone.
process.once('disconnect', () => stopping.abort());
// To listen for that alone keeps no process alive.
process.channel?.unref();

try {
  await modelsProgram((words) => run(words, stopping.signal)).parseAsync();
} catch (error) {
  process.exitCode = statusOf(error);
}
