/** Downloads one file: resumes with one Range request, retries, and keeps only bytes with the promised checksum. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { Clock } from '../lib/clock.ts';
import {
  answerError,
  type HttpSource,
  headerOf,
  networkError,
  ServerTrouble,
} from './http-source.ts';
import { type FileSum, type PlannedFile, partOf, sizeOf, sumOfFile } from './model-files.ts';
import { syncToDisk } from './model-lock.ts';
import { cancelled, diskError, ModelsError } from './models-error.ts';

/** Limit for a file of unknown length: more than twice the largest model. */
const FILE_BYTES_MAX = 16e9;

/** State, SHA-256 and size of a file that is on the disk. */
export interface FileOutcome {
  readonly state: 'downloaded' | 'was-there';
  readonly sha256: string;
  readonly bytes: number;
}

/** The patience of a download. */
export interface RetryLimits {
  /** Failures one after another, without a new byte between them. */
  readonly failuresMax: number;
  readonly firstWaitMs: number;
  readonly waitMsMax: number;
  /** A longer `Retry-After` ends the download. */
  readonly retryAfterMsMax: number;
  /** Time limit for a connection, for an answer's head, and between two chunks of its body. */
  readonly stallMs: number;
}

/** Retries and time limits of a download. */
export const DEFAULT_LIMITS: RetryLimits = {
  failuresMax: 5,
  firstWaitMs: 1000,
  waitMsMax: 30_000,
  retryAfterMsMax: 300_000,
  stallMs: 30_000,
};

/** The part of a planned file that a download needs. */
export type FileJob = Pick<PlannedFile, 'place' | 'url' | 'file' | 'revision' | 'expected'>;

/** Source, clock, limits and callbacks of a download. */
export interface DownloadTools {
  readonly source: HttpSource;
  readonly clock: Clock;
  readonly limits: RetryLimits;
  /** Whether a file without any checksum is kept. */
  readonly allowUnverified: boolean;
  readonly signal: AbortSignal;
  /** Receives the number of bytes on the disk, which may become less. */
  onBytes(job: FileJob, bytes: number): void;
  /** Receives a message about a delay. */
  onNote(text: string): void;
}

/**
 * Downloads a file, unless it is there with the right checksum.
 *
 * @throws {ModelsError} naming the file, the cause and the remedy. Downloaded bytes stay for the next run, unless they were
 * wrong.
 */
export async function downloadFile(job: FileJob, tools: DownloadTools): Promise<FileOutcome> {
  refuseUnverified(job, tools);
  const there = await existing(job, tools);
  if (there !== null) return there;
  for (let failures = 0; ; ) {
    const before = sizeOf(partOf(job.file)) ?? 0;
    try {
      return await attempt(job, tools);
    } catch (error) {
      if (tools.signal.aborted) throw cancelled(error);
      if (error instanceof ModelsError) throw error;
      const hasGrown = (sizeOf(partOf(job.file)) ?? 0) > before;
      failures = hasGrown ? 1 : failures + 1;
      await waitAfter(networkError(error), { job, tools, failures });
    }
  }
}

/** @throws {ModelsError} `unverified` where the checksum is neither in the manifest nor in the lock file. */
function refuseUnverified({ place, expected }: FileJob, tools: DownloadTools): void {
  if (expected !== null || tools.allowUnverified) return;
  throw new ModelsError(
    'unverified',
    `Cannot download "${place}": the manifest does not state its checksum; --allow-unverified takes it all the same, and keeps its checksum for the next time`,
  );
}

async function existing(job: FileJob, tools: DownloadTools): Promise<FileOutcome | null> {
  if (job.expected === null || sizeOf(job.file) === null) return null;
  const { isRight, ...found } = await sumOf(job.file, job, tools);
  if (!isRight) {
    tools.onNote(`${job.place}: the file there is damaged, and is downloaded again`);
    return null;
  }
  tools.onBytes(job, found.bytes);
  return { state: 'was-there', ...found };
}

async function sumOf(
  file: string,
  { expected }: FileJob,
  { signal }: DownloadTools,
): Promise<FileSum> {
  return sumOfFile(file, expected, signal).catch((error: unknown) => {
    throw signal.aborted ? cancelled(error) : diskError(error, file);
  });
}

/** Doubles the wait each time. @throws {ModelsError} `network`, when there is to be no other attempt. */
async function waitAfter(
  trouble: ServerTrouble,
  run: { readonly job: FileJob; readonly tools: DownloadTools; readonly failures: number },
): Promise<void> {
  const { job, tools, failures } = run;
  const { failuresMax, firstWaitMs, waitMsMax, retryAfterMsMax } = tools.limits;
  const waitMs = trouble.retryAfterMs ?? Math.min(firstWaitMs * 2 ** (failures - 1), waitMsMax);
  if (failures > failuresMax || waitMs > retryAfterMsMax) {
    throw new ModelsError(
      'network',
      `Cannot download "${job.place}" from "${job.url}": ${trouble.message}; run the same command again later, it goes on where it stopped`,
      { cause: trouble },
    );
  }
  tools.onNote(`${job.place}: ${trouble.message}; next attempt in ${Math.ceil(waitMs / 1000)} s`);
  await wait(waitMs, undefined, { signal: tools.signal }).catch((error: unknown) => {
    throw cancelled(error);
  });
}

async function attempt(job: FileJob, tools: DownloadTools): Promise<FileOutcome> {
  const { source, limits, signal } = tools;
  const have = usefulBytes(job);
  const headers = have > 0 ? { range: `bytes=${have}-` } : {};
  const answer = await source.get(job.url, { headers, signal, stallMs: limits.stallMs });
  try {
    const failure = answerError(answer, { ...job, isRest: have > 0 });
    if (failure !== null) throw failure;
    const start = startOf(answer, have);
    if (start !== have) {
      await onDisk(rm(partOf(job.file), { force: true }), job.file);
      if (start !== 0) throw new ServerTrouble('the server sent another range');
      tools.onNote(`${job.place}: the server sends it from the beginning`);
    }
    tools.onBytes(job, start);
    // 416: the server has no bytes after ours, which are the whole file or belong to another one.
    if (answer.statusCode !== 416) await append(answer.body, start, { job, tools });
    return await finish(job, tools, { isResumed: start > 0 });
  } finally {
    // A destroyed body emits an error, which would end the process without a listener.
    answer.body.on('error', () => undefined).destroy();
  }
}

/** Bytes of an earlier attempt; they count only where a checksum will be compared in the end. */
function usefulBytes({ file, expected }: FileJob): number {
  const bytes = sizeOf(partOf(file)) ?? 0;
  return expected !== null && bytes <= (expected.bytes ?? bytes) ? bytes : 0;
}

/** Position of the first byte of a body; -1 for a 206 that does not state it. @see RFC 9110, 14.4 */
function startOf(answer: Dispatcher.ResponseData, have: number): number {
  if (answer.statusCode === 416) return have;
  if (answer.statusCode !== 206) return 0;
  const range = /^bytes (\d{1,15})-\d{1,15}\//.exec(headerOf(answer, 'content-range') ?? '');
  return Number(range?.[1] ?? -1);
}

/** Writes a body behind the first `start` bytes. @throws {ModelsError} `wrong-content` where it is too long. */
async function append(
  body: AsyncIterable<Uint8Array>,
  start: number,
  { job, tools }: { readonly job: FileJob; readonly tools: DownloadTools },
): Promise<void> {
  const bytesMax = job.expected?.bytes ?? FILE_BYTES_MAX;
  await onDisk(mkdir(dirname(job.file), { recursive: true }), job.file);
  const handle = await onDisk(open(partOf(job.file), start > 0 ? 'a' : 'w'), job.file);
  try {
    let bytes = start;
    for await (const chunk of body) {
      await onDisk(handle.appendFile(chunk), job.file);
      bytes += chunk.length;
      tools.onBytes(job, bytes);
      if (bytes > bytesMax) throw await wrongContent(`more than ${bytesMax} bytes came`, job);
    }
    await onDisk(handle.sync(), job.file);
  } finally {
    await handle.close();
  }
}

/** Gives the whole file its name. @throws {ModelsError} `wrong-content`. */
async function finish(
  job: FileJob,
  tools: DownloadTools,
  { isResumed }: { readonly isResumed: boolean },
): Promise<FileOutcome> {
  const part = partOf(job.file);
  const { isRight, ...found } = await sumOf(part, job, tools);
  const total = job.expected?.bytes ?? null;
  if (total !== null && found.bytes < total) {
    throw new ServerTrouble(`only ${found.bytes} of ${total} bytes came`);
  }
  if (!isRight && isResumed) {
    await onDisk(rm(part), job.file);
    throw new ServerTrouble('the parts do not fit together');
  }
  if (!isRight) {
    throw await wrongContent(`its SHA-256 is ${found.sha256}, over ${found.bytes} bytes`, job);
  }
  await onDisk(rename(part, job.file), job.file);
  syncToDisk(dirname(job.file));
  return { state: 'downloaded', ...found };
}

async function wrongContent(what: string, { place, url, file, expected }: FileJob) {
  await onDisk(rm(partOf(file), { force: true }), file);
  const wanted = expected === null ? 'its length' : `SHA-256 ${expected.sha256}`;
  return new ModelsError(
    'wrong-content',
    `Cannot use "${place}" from "${url}": ${what}, and ${wanted} was promised; nothing of it was kept. Try another source (MODELS_BASE_URL), and report it to the source's owner`,
  );
}

async function onDisk<Result>(work: Promise<Result>, file: string): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw diskError(error, file);
  }
}
