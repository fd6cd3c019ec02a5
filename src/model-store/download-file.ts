/** Downloads one file: resumes with one Range request, retries, and keeps only bytes with the promised checksum. */
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import {
  answerError,
  type HttpAnswer,
  type HttpSource,
  lengthIn,
  networkError,
  ServerTrouble,
} from './http-source.ts';
import { type ExpectedSum, type PlannedFile, partOf, sizeOf, sumOfFile } from './model-files.ts';
import { syncToDisk } from './model-lock.ts';
import { cancelled, diskError, ModelsError } from './models-error.ts';

/** Limit for a file of unknown length: more than twice the largest model. */
const FILE_BYTES_MAX = 16e9;

/** The source of a checksum: manifest or lock file; the server, this first time; none. */
type Trust = 'known' | 'server' | 'nobody';

export interface FileOutcome {
  readonly state: 'downloaded' | 'was-there';
  readonly sha256: string;
  readonly bytes: number;
  readonly trust: Trust;
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

export const DEFAULT_LIMITS: RetryLimits = {
  failuresMax: 5,
  firstWaitMs: 1000,
  waitMsMax: 30_000,
  retryAfterMsMax: 300_000,
  stallMs: 30_000,
};

/** Wait before the next attempt; doubles each time. @param failures so far: 1 for the first. */
export function waitBeforeRetryMs(failures: number, limits: RetryLimits): number {
  return Math.min(limits.firstWaitMs * 2 ** (failures - 1), limits.waitMsMax);
}

/** The part of a planned file that a download needs. */
export type FileJob = Pick<PlannedFile, 'place' | 'url' | 'file' | 'revision' | 'expected'>;

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
  const { signal, limits } = tools;
  const there = await existing(job, tools);
  if (there !== null) return there;
  for (let failures = 0; ; ) {
    const before = sizeOf(partOf(job.file)) ?? 0;
    try {
      return await attempt(job, tools);
    } catch (error) {
      if (signal.aborted) throw cancelled(error);
      if (error instanceof ModelsError) throw error;
      const hasGrown = (sizeOf(partOf(job.file)) ?? 0) > before;
      failures = hasGrown ? 1 : failures + 1;
      await waitAfter(networkError(error), { job, tools, failures, limits });
    }
  }
}

async function existing(job: FileJob, tools: DownloadTools): Promise<FileOutcome | null> {
  if (job.expected === null || sizeOf(job.file) === null) return null;
  const { sha256, bytes, isRight } = await sumOf(job.file, job.expected, tools.signal);
  if (!isRight) {
    tools.onNote(`${job.place}: the file there is damaged, and is downloaded again`);
    return null;
  }
  tools.onBytes(job, bytes);
  return { state: 'was-there', sha256, bytes, trust: 'known' };
}

async function sumOf(file: string, expected: ExpectedSum | null, signal: AbortSignal) {
  return sumOfFile(file, expected, signal).catch((error: unknown) => {
    throw signal.aborted ? cancelled(error) : diskError(error, file);
  });
}

/** @throws {ModelsError} `network`, when there is to be no other attempt. */
async function waitAfter(
  trouble: ServerTrouble,
  run: {
    readonly job: FileJob;
    readonly tools: DownloadTools;
    readonly failures: number;
    readonly limits: RetryLimits;
  },
): Promise<void> {
  const { job, tools, failures, limits } = run;
  const waitMs = trouble.retryAfterMs ?? waitBeforeRetryMs(failures, limits);
  if (failures > limits.failuresMax || waitMs > limits.retryAfterMsMax) {
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
  const { source, limits, signal, clock } = tools;
  const have = usefulBytes(job, tools.allowUnverified);
  const headers = have > 0 ? { range: `bytes=${have}-` } : {};
  const answer = await source.get(job.url, { headers, signal, stallMs: limits.stallMs });
  try {
    const failure = answerError(answer, { ...job, isRest: have > 0 }, clock.now());
    if (failure !== null) throw failure;
    return await receive(answer, { job, tools, have });
  } finally {
    // A destroyed body emits an error, which would end the process without a listener.
    answer.body.on('error', () => undefined).destroy();
  }
}

/** Bytes of an earlier attempt; they count only where a checksum will be compared in the end. */
function usefulBytes({ file, expected }: FileJob, allowUnverified: boolean): number {
  const bytes = sizeOf(partOf(file)) ?? 0;
  const isUseful = expected === null ? !allowUnverified : bytes <= (expected.bytes ?? bytes);
  return isUseful ? bytes : 0;
}

interface Receiving {
  readonly job: FileJob;
  readonly tools: DownloadTools;
  /** Bytes of the part on the disk when the attempt began. */
  readonly have: number;
}

async function receive(answer: HttpAnswer, receiving: Receiving): Promise<FileOutcome> {
  const { job, tools, have } = receiving;
  const { expected, trust } = trustedSumOf(answer, job, tools.allowUnverified);
  // 416: nothing follows our bytes. They are the whole file, or not its beginning.
  const isAll = answer.status === 416;
  const start = isAll ? have : startOf(answer);
  if (start !== have) {
    await onDisk(rm(partOf(job.file), { force: true }), job.file);
    if (start !== 0) throw new ServerTrouble('the server sent another range');
    tools.onNote(`${job.place}: the server sends it from the beginning`);
  }
  tools.onBytes(job, start);
  if (!isAll) {
    const bytesMax = expected?.bytes ?? FILE_BYTES_MAX;
    if (!(await append(answer.body, { job, tools, start, bytesMax }))) {
      throw await wrongContent(`more than ${bytesMax} bytes came`, expected, job);
    }
  }
  const total = expected?.bytes ?? (isAll ? null : totalOf(answer));
  return finish({ ...receiving, expected, trust, total, isResumed: start > 0 });
}

/** Writes a body behind the first `start` bytes. @returns whether it is no longer than `bytesMax`. */
async function append(
  body: AsyncIterable<Uint8Array>,
  to: {
    readonly job: FileJob;
    readonly tools: DownloadTools;
    readonly start: number;
    readonly bytesMax: number;
  },
): Promise<boolean> {
  const { job, tools, start, bytesMax } = to;
  const handle = await onDisk(openPart(job.file, start), job.file);
  try {
    let bytes = start;
    for await (const chunk of body) {
      await onDisk(handle.appendFile(chunk), job.file);
      bytes += chunk.length;
      tools.onBytes(job, bytes);
      if (bytes > bytesMax) return false;
    }
    await onDisk(handle.sync(), job.file);
    return true;
  } finally {
    await handle.close();
  }
}

async function openPart(file: string, start: number): Promise<FileHandle> {
  await mkdir(dirname(file), { recursive: true });
  return open(partOf(file), start > 0 ? 'a' : 'w');
}

/** Gives the whole file its name. @throws {ModelsError} `wrong-content`. */
async function finish(
  given: Receiving & {
    readonly expected: ExpectedSum | null;
    readonly trust: Trust;
    readonly total: number | null;
    readonly isResumed: boolean;
  },
): Promise<FileOutcome> {
  const { job, tools, expected, trust, total, isResumed } = given;
  const part = partOf(job.file);
  const { sha256, bytes, isRight } = await sumOf(part, expected, tools.signal);
  if (total !== null && bytes < total) {
    throw new ServerTrouble(`only ${bytes} of ${total} bytes came`);
  }
  if (!isRight || bytes !== (total ?? bytes)) {
    if (!isResumed) {
      throw await wrongContent(`its SHA-256 is ${sha256}, over ${bytes} bytes`, expected, job);
    }
    await onDisk(rm(part), job.file);
    throw new ServerTrouble('the parts do not fit together');
  }
  await onDisk(rename(part, job.file), job.file);
  syncToDisk(dirname(job.file));
  return { state: 'downloaded', sha256, bytes, trust };
}

async function wrongContent(
  what: string,
  expected: ExpectedSum | null,
  job: FileJob,
): Promise<ModelsError> {
  await onDisk(rm(partOf(job.file), { force: true }), job.file);
  const wanted = expected === null ? 'its length' : `${expected.algorithm} ${expected.hex}`;
  return new ModelsError(
    'wrong-content',
    `Cannot use "${job.place}" from "${job.url}": ${what}, and ${wanted} was promised; nothing of it was kept. Try another source (MODELS_BASE_URL), and report it to the source's owner`,
  );
}

async function onDisk<Result>(work: Promise<Result>, file: string): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw diskError(error, file);
  }
}

/**
 * Decides the checksum of an answer's body: manifest or lock file first, then the server's own.
 *
 * @throws {ModelsError} `wrong-content` when the server declares another file, `unverified` without any checksum.
 */
function trustedSumOf(
  { declared, commit }: HttpAnswer,
  { place, revision, expected }: FileJob,
  allowUnverified: boolean,
): { readonly expected: ExpectedSum | null; readonly trust: Trust } {
  if (commit !== null && /^[0-9a-f]{40}$/.test(revision) && commit !== revision) {
    throw new ModelsError(
      'wrong-content',
      `Cannot download "${place}": revision ${revision} was requested, and the server answers for ${commit}`,
    );
  }
  if (expected !== null) {
    // Fails before a gigabyte is downloaded in vain.
    const isOther = declared?.algorithm === expected.algorithm && declared.hex !== expected.hex;
    if (!isOther) return { expected, trust: 'known' };
    throw new ModelsError(
      'wrong-content',
      `Cannot download "${place}": the server has a file with SHA-256 ${declared.hex}, and ${expected.hex} was promised; try another source (MODELS_BASE_URL), and report it to the source's owner`,
    );
  }
  if (declared !== null) return { expected: declared, trust: 'server' };
  if (allowUnverified) return { expected: null, trust: 'nobody' };
  throw new ModelsError(
    'unverified',
    `Cannot download "${place}": neither the manifest nor the server states its checksum; --allow-unverified takes it all the same, and keeps its checksum for the next time`,
  );
}

/** Position of the first byte of a body; -1 for a 206 that does not state it. @see RFC 9110, 14.4 */
function startOf({ status, headers }: HttpAnswer): number {
  if (status !== 206) return 0;
  const range = /^bytes (\d{1,15})-\d{1,15}\/(?:\d{1,15}|\*)$/.exec(headers['content-range'] ?? '');
  return Number(range?.[1] ?? -1);
}

/** Length of the whole file by the answer; null when it does not state it. */
function totalOf({ status, headers }: HttpAnswer): number | null {
  if (status !== 206) return lengthIn(headers['content-length']);
  return lengthIn(/\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1]);
}
