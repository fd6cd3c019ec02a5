/** The download run of the models command: files two at once, then Ollama's models, with progress and results. */
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { type DownloadTools, downloadFile, type FileOutcome } from './download-file.ts';
import { networkError, ServerTrouble } from './http-source.ts';
import type { Model, OllamaModelEntry } from './manifest.ts';
import {
  announcement,
  bytesMissing,
  bytesThere,
  type PlannedFile,
  planFiles,
  useText,
} from './model-files.ts';
import { lockFolder, ModelLock } from './model-lock.ts';
import { cancelled, ModelsError, refuseWithoutRoom } from './models-error.ts';
import { bytesText, Progress, plainText, type Screen } from './progress.ts';

const FILES_AT_ONCE = 2;

/** Failures that end the whole run. */
const ENDS_ALL = new Set(['disk-full', 'disk', 'cancelled']);

type FetchOptions = Omit<DownloadTools, 'onBytes' | 'onNote'> & {
  readonly models: readonly Model[];
  readonly modelsDir: string;
  /** Null for each model's own source. */
  readonly mirror: string | null;
  /** Null where another language model is set: Ollama is not called then. */
  readonly ollamaHost: string | null;
  readonly dispatcher: Dispatcher;
  readonly screen: Screen;
};

/**
 * Downloads what is missing.
 *
 * @returns the failures, and the files as they are known now.
 * @throws {ModelsError} before any download: another run is at work, the disk is too small, a list is damaged.
 */
export async function fetchModels(options: FetchOptions): Promise<{
  readonly failures: readonly ModelsError[];
  readonly files: readonly PlannedFile[];
}> {
  const { modelsDir, mirror, models, screen } = options;
  const runLock = lockFolder(modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(modelsDir);
    const files = planFiles(models, { modelsDir, lock, mirror });
    screen.write(`${announcement(models, files, options)}\n`);
    for (const file of files) progress.add(file.place, file.bytes, bytesThere(file));
    progress.start();
    const results = await downloadModels(files, {
      ...options,
      lock,
      onBytes: ({ place }, bytes) => progress.update(place, bytes),
      onNote: (text) => progress.say(screen.paint('yellow', text)),
      onResult: (result) => sayResult(result, progress, screen),
    });
    const failures = results
      .map(({ outcome }) => outcome)
      .filter((it) => it instanceof ModelsError);
    for (const model of models) {
      if (model.kind !== 'llm' || options.signal.aborted) continue;
      const failure = await pull(model, options, progress);
      if (failure !== null) failures.push(failure);
    }
    // Stopped files all have the same message.
    const messages = failures.map(({ message }) => message);
    return {
      failures: failures.filter(({ message }, at) => messages.indexOf(message) === at),
      files: planFiles(models, { modelsDir, lock, mirror }),
    };
  } finally {
    progress.stop();
    runLock.release();
  }
}

/** Result for one file of a model. */
export interface FileResult {
  readonly file: PlannedFile;
  readonly outcome: FileOutcome | ModelsError;
}

/**
 * Downloads files, each checked and noted in the lock file.
 *
 * @param tools.onResult receives each file's result.
 * @returns all results; a failed file does not stop the others, unless the disk is full.
 * @throws {ModelsError} `disk-full` before any download, where the disk is too small.
 */
export async function downloadModels(
  files: readonly PlannedFile[],
  tools: DownloadTools & {
    readonly modelsDir: string;
    readonly lock: ModelLock;
    onResult(result: FileResult): void;
  },
): Promise<readonly FileResult[]> {
  await mkdir(tools.modelsDir, { recursive: true });
  await refuseWithoutRoom(tools.modelsDir, bytesMissing(files));
  const waiting = [...files];
  const results: FileResult[] = [];
  const ending = new AbortController();
  const signal = AbortSignal.any([tools.signal, ending.signal]);
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const outcome = await download(file, { ...tools, signal });
      if (outcome instanceof ModelsError && ENDS_ALL.has(outcome.failure)) {
        waiting.length = 0;
        ending.abort();
      }
      results.push({ file, outcome });
      tools.onResult({ file, outcome });
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
  return results;
}

async function download(
  file: PlannedFile,
  tools: DownloadTools & { readonly lock: ModelLock },
): Promise<FileOutcome | ModelsError> {
  const { place, revision, url } = file;
  try {
    const outcome = await downloadFile(file, tools);
    const { sha256, bytes } = outcome;
    const noted = tools.lock.get(place);
    if (noted?.sha256 === sha256 && noted.revision === revision) return outcome;
    const trust = file.expected === null ? 'nobody' : 'manifest';
    const at = tools.clock.now().toISOString();
    tools.lock.note(place, { sha256, bytes, trust, revision, url, at });
    return outcome;
  } catch (error) {
    if (error instanceof ModelsError) return error;
    if (tools.signal.aborted) return cancelled(error);
    throw error;
  }
}

function sayResult({ file, outcome }: FileResult, progress: Progress, screen: Screen): void {
  progress.finish(file.place);
  if (!(outcome instanceof ModelsError)) {
    progress.say(
      `${screen.paint('green', 'ok')}  ${file.place}  ${outcomeText(file, outcome, screen)}`,
    );
  } else if (outcome.failure !== 'cancelled') {
    progress.say(`${screen.paint('red', 'failed')}  ${file.place}`);
  }
}

function outcomeText(
  { expected }: PlannedFile,
  { state, bytes, sha256 }: FileOutcome,
  screen: Screen,
): string {
  const size = bytesText(bytes);
  if (state === 'was-there') return `${size}, was there, checked`;
  if (expected !== null) return `${size}, checked`;
  return `${size}, ${screen.paint('yellow', 'unverified')}; from now on it must stay SHA-256 ${sha256}`;
}

async function pull(
  model: OllamaModelEntry,
  options: FetchOptions,
  progress: Progress,
): Promise<ModelsError | null> {
  const { ollamaHost: host, screen } = options;
  const { ollama: name } = model;
  if (host === null) {
    progress.say(`left out  ${name}: LLM is set to something else than Ollama`);
    return null;
  }
  progress.add(name, model.aboutBytes, 0);
  try {
    const onBytes = (done: number) => progress.update(name, done);
    const state = await pullOllamaModel({ ...options, host, model: name, onBytes });
    const how = state === 'was-there' ? 'was there' : 'downloaded and checked by Ollama';
    progress.say(`${screen.paint('green', 'ok')}  ${name}  ${how}; ${useText(model)}`);
    return null;
  } catch (error) {
    if (!(error instanceof ModelsError)) throw error;
    if (error.failure !== 'cancelled') progress.say(`${screen.paint('red', 'failed')}  ${name}`);
    return error;
  } finally {
    progress.finish(name);
  }
}

/** Time limit for the list of models that Ollama has. */
const LIST_MS = 5000;

/** Whether an Ollama answers at `host` within 5 s. */
export async function ollamaAnswers(options: OllamaServer): Promise<boolean> {
  return (await ollamaModels(options)) !== undefined;
}

/** Names of the models that Ollama has; undefined where none answers at `host` within 5 s. */
export async function ollamaModels(options: OllamaServer): Promise<readonly string[] | undefined> {
  try {
    return await modelsOf(options);
  } catch {
    options.signal.throwIfAborted();
    return undefined;
  }
}

interface OllamaServer {
  /** Base URL, such as `http://127.0.0.1:11434`. */
  readonly host: string;
  /** Its time limit between two chunks has to be longer than Ollama checks gigabytes in silence. */
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}

/** The model to pull, and the Ollama server that pulls it. */
export interface PullOptions extends OllamaServer {
  readonly model: string;
  /** Receives the number of downloaded bytes, and of all bytes known so far. */
  onBytes(done: number, total: number): void;
}

/**
 * Makes Ollama download a model that it does not have. Ollama verifies and resumes downloads itself.
 *
 * @throws {ModelsError}
 */
export async function pullOllamaModel(options: PullOptions): Promise<'downloaded' | 'was-there'> {
  const { signal } = options;
  try {
    const { model } = options;
    const name = model.includes(':') ? model : `${model}:latest`;
    if ((await modelsOf(options)).includes(name)) return 'was-there';
    await followPull(options);
    return 'downloaded';
  } catch (error) {
    throw signal.aborted ? cancelled(error) : pullError(error, options);
  }
}

function pullError(cause: unknown, { host, model }: PullOptions): ModelsError {
  const why = plainText(networkError(cause).message).slice(0, 300);
  return new ModelsError(
    'network',
    `Cannot have Ollama at "${host}" download "${model}": ${why}; start Ollama ("ollama serve"), or set OLLAMA_HOST to where it runs, and run the same command again`,
    { cause },
  );
}

/** Names of the models that Ollama has. */
async function modelsOf(server: OllamaServer): Promise<readonly string[]> {
  const signal = AbortSignal.any([server.signal, AbortSignal.timeout(LIST_MS)]);
  const body = await ask({ ...server, signal }, '/api/tags', { method: 'GET' });
  return readOllama(tagsSchema, await body.text()).models.map(({ name }) => name);
}

async function followPull(options: PullOptions): Promise<void> {
  const wanted = JSON.stringify({ model: options.model, stream: true });
  const body = await ask(options, '/api/pull', { method: 'POST', body: wanted });
  const layers = new Map<string, { readonly done: number; readonly total: number }>();
  let isDone = false;
  for await (const line of createInterface({ input: body })) {
    const { status, error, digest, total, completed } = readOllama(lineSchema, line);
    if (error !== undefined) throw new ServerTrouble(error);
    isDone = status === 'success';
    if (digest === undefined || total === undefined) continue;
    layers.set(digest, { done: completed ?? 0, total });
    const sum = (part: 'done' | 'total') =>
      [...layers.values()].reduce((bytes, layer) => bytes + layer[part], 0);
    options.onBytes(sum('done'), sum('total'));
  }
  if (!isDone) throw new ServerTrouble('its answer broke off');
}

async function ask(
  { host, dispatcher, signal }: OllamaServer,
  path: string,
  init: Pick<Dispatcher.RequestOptions, 'method' | 'body'>,
): Promise<Dispatcher.ResponseData['body']> {
  const headers = { 'content-type': 'application/json' };
  const url = `${host.replace(/\/+$/, '')}${path}`;
  const { statusCode, body } = await request(url, { ...init, headers, dispatcher, signal });
  if (statusCode === 200) return body;
  throw new ServerTrouble(`it answered ${statusCode}: ${await body.text()}`);
}

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string() })) });

/** @see Ollama API, "Pull a Model" */
const lineSchema = z.object({
  status: z.string().optional(),
  error: z.string().optional(),
  digest: z.string().optional(),
  total: z.number().nonnegative().optional(),
  completed: z.number().nonnegative().optional(),
});

function readOllama<Schema extends z.ZodType>(schema: Schema, text: string): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new ServerTrouble('it does not speak like Ollama', { cause: error });
  }
}
