/** Runs a download as the operator's command does, in a process of low priority: calls in progress come first. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WantedModels } from '../../domain/models/model-downloads.ts';
import { setLowPriority } from '../../lib/process/low-priority.ts';
import type { ProgressReport } from '../progress.ts';

const MODELS = fileURLToPath(new URL('../../cli/models.ts', import.meta.url));

/** Time for a polite end, which closes files; then the process is killed. */
const STOP_MS_MAX = 5000;

const OUTPUT_CHARACTERS_MAX = 2000;

/** The command's exit status for a run that was stopped. */
const INTERRUPTED = 130;

/** `problem` is null where the download has ended well; undefined where it was stopped. */
export interface DownloadEnd {
  readonly problem: string | null | undefined;
}

/** With the server's own settings: same environment, same working directory. Never rejects. */
export function runDownloadProcess(options: {
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
