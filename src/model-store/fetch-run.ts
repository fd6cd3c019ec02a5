/** A run that downloads: says what it will do, does it, and says what there is now. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/private-tree.ts';
import type { FileOutcome } from './download-file.ts';
import { bytesMissing, downloadModels, type FileResult } from './download-models.ts';
import type { HttpSource } from './http-source.ts';
import type { Model, OllamaModelEntry } from './manifest.ts';
import { ModelLock } from './model-lock.ts';
import { ModelsError } from './models-error.ts';
import { pullOllamaModel } from './ollama-pull.ts';
import { bytesThere, type PlannedFile, planFiles } from './plan.ts';
import { Progress, type Screen } from './progress.ts';
import { licenceLines, useText } from './report.ts';
import type { RetryLimits } from './retry.ts';
import { lockFolder } from './run-lock.ts';
import { bytesText } from './wording.ts';

export interface FetchOptions {
  readonly models: readonly Model[];
  readonly modelsDir: string;
  /** Null for each model's own source. */
  readonly mirror: string | null;
  /** Null where another language model is set: then Ollama is left alone. */
  readonly ollamaHost: string | null;
  readonly source: HttpSource;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly limits: RetryLimits;
  readonly allowUnverified: boolean;
  readonly signal: AbortSignal;
  readonly screen: Screen;
}

export interface FetchOutcome {
  /** What could not be had, each in words. */
  readonly failures: readonly ModelsError[];
  /** The files of the models, as they are known now. */
  readonly files: readonly PlannedFile[];
}

/**
 * Downloads what is missing.
 *
 * @throws {ModelsError} before anything is downloaded: another run is at work, there is no room, a list is damaged.
 */
export async function fetchModels(options: FetchOptions): Promise<FetchOutcome> {
  const { modelsDir, mirror, models, screen } = options;
  makeModelsFolder(modelsDir);
  const runLock = lockFolder(modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(modelsDir);
    const files = planFiles(models, { modelsDir, lock, mirror });
    announce(files, options);
    for (const file of files) progress.add(file.place, file.bytes, bytesThere(file));
    progress.start();
    const results = await downloadModels(files, {
      ...options,
      lock,
      onBytes: ({ label }, bytes) => progress.update(label, bytes),
      onNote: (text) => progress.say(screen.paint('yellow', text)),
      onResult: (result) => tell(result, progress, screen),
    });
    const failures = results.flatMap(({ outcome }) =>
      outcome instanceof ModelsError ? [outcome] : [],
    );
    failures.push(...(await pullAll(options, progress)));
    // What was noted meanwhile is known now.
    return {
      failures: withoutRepeats(failures),
      files: planFiles(models, { modelsDir, lock, mirror }),
    };
  } finally {
    progress.stop();
    runLock.release();
  }
}

function announce(files: readonly PlannedFile[], options: FetchOptions): void {
  const { screen, models, modelsDir, mirror } = options;
  const lines = [
    `Models for "${modelsDir}", and their licences:`,
    ...licenceLines(models),
    files.length === 0
      ? 'No files to download.'
      : `${files.length} files, ${bytesText(bytesMissing(files))} to download${mirror === null ? '' : ` from ${mirror}`}.`,
  ];
  screen.write(`${lines.join('\n')}\n`);
}

function tell({ file, outcome }: FileResult, progress: Progress, screen: Screen): void {
  progress.finish(file.place);
  if (outcome instanceof ModelsError) {
    if (outcome.failure !== 'cancelled') {
      progress.say(`${screen.paint('red', 'failed')}  ${file.place}`);
    }
    return;
  }
  progress.say(`${screen.paint('green', 'ok')}  ${file.place}  ${outcomeText(outcome, screen)}`);
}

function outcomeText({ state, bytes, sha256, trust }: FileOutcome, screen: Screen): string {
  const size = bytesText(bytes);
  if (state === 'was-there') return `${size}, was there, checked`;
  if (trust === 'known') return `${size}, checked`;
  const who =
    trust === 'server'
      ? 'checked against what the server itself says, this first time'
      : 'nobody says whether it is right';
  return `${size}, ${screen.paint('yellow', who)}; from now on it must stay SHA-256 ${sha256}`;
}

async function pullAll(options: FetchOptions, progress: Progress): Promise<ModelsError[]> {
  const wanted = options.models.filter((model) => model.kind === 'llm');
  const failures: ModelsError[] = [];
  for (const model of wanted) {
    if (options.signal.aborted) break;
    const failure = await pull(model, options, progress);
    if (failure !== null) failures.push(failure);
  }
  return failures;
}

async function pull(
  model: OllamaModelEntry,
  options: FetchOptions,
  progress: Progress,
): Promise<ModelsError | null> {
  const { ollamaHost: host, screen } = options;
  if (host === null) {
    progress.say(`left out  ${model.ollama}: LLM is set to something else than Ollama`);
    return null;
  }
  progress.add(model.ollama, model.aboutBytes, 0);
  try {
    const state = await pullOllamaModel({
      ...options,
      host,
      model: model.ollama,
      onBytes: (done) => progress.update(model.ollama, done),
    });
    const how = state === 'was-there' ? 'was there' : 'downloaded and checked by Ollama';
    progress.say(`${screen.paint('green', 'ok')}  ${model.ollama}  ${how}; ${useText(model)}`);
    return null;
  } catch (error) {
    if (!(error instanceof ModelsError)) throw error;
    if (error.failure !== 'cancelled') {
      progress.say(`${screen.paint('red', 'failed')}  ${model.ollama}`);
    }
    return error;
  } finally {
    progress.finish(model.ollama);
  }
}

/** Files that were stopped all say the same. */
function withoutRepeats(failures: readonly ModelsError[]): readonly ModelsError[] {
  return failures.filter(
    ({ message }, index) => failures.findIndex((other) => other.message === message) === index,
  );
}

function makeModelsFolder(modelsDir: string): void {
  try {
    makeFolder(modelsDir);
  } catch (error) {
    throw folderError(error, modelsDir);
  }
}

function folderError(cause: unknown, modelsDir: string): ModelsError {
  return new ModelsError('disk', `Cannot make "${modelsDir}": ${cause}; set MODELS_DIR`, { cause });
}
