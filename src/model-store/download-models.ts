/** Downloads many files, two at once, and tells of each what became of it. */
import { mkdir } from 'node:fs/promises';
import { type DownloadTools, downloadFile, type FileOutcome } from './download-file.ts';
import { refuseWithoutRoom } from './free-space.ts';
import type { LockEntry, ModelLock } from './model-lock.ts';
import { cancelled, ModelsError } from './models-error.ts';
import { bytesThere, type PlannedFile } from './plan.ts';

const FILES_AT_ONCE = 2;

/** After these nothing else can go well. */
const ENDS_ALL = new Set(['disk-full', 'disk', 'cancelled']);

export interface FileResult {
  readonly file: PlannedFile;
  readonly outcome: FileOutcome | ModelsError;
}

/**
 * Has the files, each checked and noted in the lock file.
 *
 * @param tools.onResult told of each file when it is done.
 * @returns what became of each; one that failed does not keep the others from coming, unless the disk is full.
 * @throws {ModelsError} `disk-full` before anything is downloaded, where there is no room.
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
      const outcome = await attempt(file, { ...tools, signal });
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

async function attempt(
  file: PlannedFile,
  tools: Parameters<typeof downloadModels>[1],
): Promise<FileOutcome | ModelsError> {
  try {
    const outcome = await downloadFile(file, tools);
    const noted = tools.lock.get(file.place);
    const isNoted = noted?.sha256 === outcome.sha256 && noted.revision === file.revision;
    if (!isNoted) {
      await tools.lock.note({ [file.place]: entryOf(file, outcome, tools.clock.now()) });
    }
    return outcome;
  } catch (error) {
    if (error instanceof ModelsError) return error;
    if (tools.signal.aborted) return cancelled(error);
    throw error;
  }
}

function entryOf(file: PlannedFile, outcome: FileOutcome, now: Date): LockEntry {
  const { sha256, bytes, trust } = outcome;
  return {
    sha256,
    bytes,
    trust: trust === 'known' ? 'manifest' : trust,
    revision: file.revision,
    url: file.url,
    at: now.toISOString(),
  };
}

/** Of files whose length is known: what is not on the disk yet. */
export function bytesMissing(files: readonly PlannedFile[]): number {
  return files.reduce((sum, file) => sum + Math.max(0, (file.bytes ?? 0) - bytesThere(file)), 0);
}
