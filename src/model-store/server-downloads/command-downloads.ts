/** Downloads of models by the operator's command, one at a time; the newest is kept in memory. */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { NewId } from '../../domain/ids.ts';
import type {
  ModelCatalogue,
  ModelDownload,
  ModelDownloads,
  WantedModels,
} from '../../domain/model-downloads.ts';
import { conflict, ServiceError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { setLowPriority } from '../../lib/process/child-supervisor.ts';
import type { ModelSettings } from '../manifest.ts';
import { ModelsError } from '../models-error.ts';
import type { ProgressReport } from '../progress.ts';
import { catalogueOf, readShelf, refuseFullDisk, wantedModels } from './model-catalogue.ts';

interface CommandDownloadsOptions {
  readonly settings: ModelSettings;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Logger;
  /** The list of the repository unless given. */
  readonly manifestFile?: string;
}

interface Run {
  readonly stopping: AbortController;
  readonly ended: Promise<void>;
}

/** Downloads by `npm run models` in a process of its own, one at a time. */
export class CommandDownloads implements ModelDownloads {
  readonly #options: CommandDownloadsOptions;
  #newest: ModelDownload | undefined;
  #run: Run | undefined;
  /** From the request on: the checks before a download take time. */
  #isStarting = false;
  #isStopped = false;
  #isRestartNeeded = false;

  constructor(options: CommandDownloadsOptions) {
    this.#options = options;
  }

  get newest(): ModelDownload | undefined {
    return this.#newest;
  }

  async catalogue(): Promise<ModelCatalogue> {
    const { settings, manifestFile } = this.#options;
    return asked(async () => ({
      ...(await catalogueOf(await readShelf(settings, manifestFile))),
      isRestartNeeded: this.#isRestartNeeded,
    }));
  }

  async start(wanted: WantedModels): Promise<ModelDownload> {
    if (this.#isStarting || this.#run !== undefined) throw UNDER_WAY;
    this.#isStarting = true;
    try {
      await asked(() => this.#check(wanted));
      if (this.#isStopped) throw STOPPING;
      return this.#begin(wanted);
    } finally {
      this.#isStarting = false;
    }
  }

  async cancel(): Promise<void> {
    this.#run?.stopping.abort();
    await this.#run?.ended;
  }

  /** Ends a download under way; a later start resumes it. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.cancel();
  }

  async #check(wanted: WantedModels): Promise<void> {
    const { settings, manifestFile } = this.#options;
    const shelf = await readShelf(settings, manifestFile);
    await refuseFullDisk(await wantedModels(wanted, shelf), shelf);
  }

  #begin(wanted: WantedModels): ModelDownload {
    const { clock, newId, manifestFile } = this.#options;
    const download: ModelDownload = {
      id: newId('dl'),
      profile: 'profile' in wanted ? wanted.profile : null,
      modelId: 'modelId' in wanted ? wanted.modelId : null,
      state: 'running',
      startedAt: clock.now(),
      endedAt: null,
      ...{ doneBytes: 0, totalBytes: 0, bytesPerSecond: 0, files: [], problem: null },
    };
    const stopping = new AbortController();
    const onProgress = (report: ProgressReport) => {
      if (this.#newest?.state === 'running') this.#change(report);
    };
    const { signal } = stopping;
    const ended = runDownloadProcess({ wanted, manifestFile, signal, onProgress }).then((end) =>
      this.#end(end),
    );
    this.#newest = download;
    this.#run = { stopping, ended };
    return download;
  }

  #end({ problem }: DownloadEnd): void {
    const { clock, log } = this.#options;
    this.#run = undefined;
    const state = problem === undefined ? 'cancelled' : problem === null ? 'completed' : 'failed';
    this.#isRestartNeeded ||= state === 'completed';
    const endedAt = clock.now();
    this.#change({ state, endedAt, files: [], bytesPerSecond: 0, problem: problem ?? null });
    const downloadId = this.#newest?.id;
    if (state === 'failed') log.warn({ downloadId, why: problem }, 'models: download failed');
    else log.info({ downloadId, state }, 'models: download ended');
  }

  #change(change: Partial<ModelDownload>): void {
    if (this.#newest !== undefined) this.#newest = { ...this.#newest, ...change };
  }
}

const UNDER_WAY = conflict(
  'Cannot start the download: another one is under way; wait for its end, or cancel it',
);

const STOPPING = new ServiceError(
  'SERVICE_UNAVAILABLE',
  'Cannot start the download: the server stops',
);

/** @throws {ServiceError} instead of the model store's own error. */
async function asked<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ModelsError ? refusalOf(error) : error;
  }
}

function refusalOf({ failure, message }: ModelsError): ServiceError {
  return new ServiceError(failure === 'disk-full' ? 'CONFLICT' : 'UNPROCESSABLE', message);
}

const MODELS = fileURLToPath(new URL('../../cli/models.ts', import.meta.url));

/** Time for a polite end, which closes files; then the process is killed. */
const STOP_MS_MAX = 5000;

const OUTPUT_CHARACTERS_MAX = 2000;

/** The command's exit status for a run that was stopped. */
const INTERRUPTED = 130;

/** `problem` is null where the download has ended well; undefined where it was stopped. */
interface DownloadEnd {
  readonly problem: string | null | undefined;
}

/** With the server's own settings: same environment, same working directory. Never rejects. */
function runDownloadProcess(options: {
  readonly wanted: WantedModels;
  /** The list of the repository unless given. */
  readonly manifestFile?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (report: ProgressReport) => void;
}): Promise<DownloadEnd> {
  const { signal } = options;
  const child = fork(MODELS, wordsOf(options), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (child.pid !== undefined) setLowPriority(child.pid);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(0, OUTPUT_CHARACTERS_MAX);
  });
  child.on('message', (report) => options.onProgress(report as ProgressReport));
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill('SIGTERM');
    killing = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  };
  signal.addEventListener('abort', stop, { once: true });
  const { promise, resolve } = Promise.withResolvers<DownloadEnd>();
  child.once('error', (error) =>
    resolve({ problem: `Cannot start the download: ${error.message}` }),
  );
  child.once('close', (status, cause) => {
    clearTimeout(killing);
    signal.removeEventListener('abort', stop);
    if (signal.aborted || status === INTERRUPTED) return resolve({ problem: undefined });
    const problem = errors.trim() || `The download ended with ${cause ?? `exit code ${status}`}`;
    resolve({ problem: status === 0 ? null : problem });
  });
  return promise;
}

function wordsOf(options: {
  readonly wanted: WantedModels;
  readonly manifestFile?: string | undefined;
}): readonly string[] {
  const { wanted, manifestFile } = options;
  return [
    '--no-self-test',
    ...('profile' in wanted ? ['--profile', wanted.profile] : ['--only', wanted.modelId]),
    ...(manifestFile === undefined ? [] : ['--manifest', manifestFile]),
  ];
}
