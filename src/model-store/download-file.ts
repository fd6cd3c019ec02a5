/** Downloads one file: goes on where it stopped, waits where it must, and lets nothing through that is not what was promised. */
import { stat } from 'node:fs/promises';
import type { Clock } from '../lib/clock.ts';
import { type ExpectedSum, type FileSum, sumOfFile } from './file-sum.ts';
import type { HttpAnswer, HttpSource } from './http-source.ts';
import { answerError, networkError, ServerTrouble } from './http-trouble.ts';
import { cancelled, diskError, ModelsError } from './models-error.ts';
import { PartFile } from './part-file.ts';
import { type RetryLimits, waitBeforeRetryMs } from './retry.ts';
import { pause, StallWatch } from './stall-watch.ts';
import {
  rangeStartOf,
  type Trust,
  type TrustedSum,
  totalOf,
  trustedSumOf,
  validatorOf,
} from './trusted-sum.ts';

/** Of a file whose length nobody has stated: no model of ours is half as large. */
const FILE_BYTES_MAX = 16e9;

/** A file to have. */
export interface FileJob {
  /** For the operator: the place below MODELS_DIR. */
  readonly label: string;
  readonly url: string;
  /** Where it goes. */
  readonly file: string;
  /** Of the source, as the manifest pins it. */
  readonly revision: string;
  /** What the manifest or the lock file says of it; null when neither does. */
  readonly expected: ExpectedSum | null;
}

export interface FileOutcome {
  readonly state: 'downloaded' | 'was-there';
  readonly sha256: string;
  readonly bytes: number;
  readonly trust: Trust;
}

export interface DownloadTools {
  readonly source: HttpSource;
  readonly clock: Clock;
  readonly limits: RetryLimits;
  /** Whether a file may be kept that nobody vouches for. */
  readonly allowUnverified: boolean;
  readonly signal: AbortSignal;
  /** Told how many bytes of the file are there, which may become less. */
  onBytes(job: FileJob, bytes: number): void;
  /** Told in words what takes longer than it should. */
  onNote(text: string): void;
}

/** The bytes on disk do not fit the rest: once more from the beginning. */
class StaleParts extends Error {
  override readonly name = 'StaleParts';
}

/**
 * Has a file, checked.
 *
 * @throws {ModelsError} naming the file, the cause and the remedy. What was downloaded stays for the next time, unless it
 * was wrong.
 */
export async function downloadFile(job: FileJob, tools: DownloadTools): Promise<FileOutcome> {
  const there = await existing(job, tools);
  if (there !== null) return there;
  return new Download(job, tools).run();
}

async function existing(job: FileJob, tools: DownloadTools): Promise<FileOutcome | null> {
  const size = await stat(job.file).then(
    (found) => found.size,
    () => null,
  );
  if (size === null || job.expected === null) return null;
  const { signal } = tools;
  const sum = await sumOfFile(job.file, job.expected, { signal }).catch((error: unknown) => {
    throw signal.aborted ? cancelled(error) : diskError(error, job.file);
  });
  const { sha256, isRight } = sum.finish(job.expected);
  if (!isRight) {
    tools.onNote(`${job.label}: what lies there is not what it should be, and is downloaded again`);
    return null;
  }
  tools.onBytes(job, size);
  return { state: 'was-there', sha256, bytes: size, trust: 'known' };
}

class Download {
  readonly #job: FileJob;
  readonly #tools: DownloadTools;
  #failures = 0;
  #failuresInAll = 0;
  #hasRestarted = false;

  constructor(job: FileJob, tools: DownloadTools) {
    this.#job = job;
    this.#tools = tools;
  }

  async run(): Promise<FileOutcome> {
    for (;;) {
      const part = await PartFile.open(this.#job.file);
      try {
        return await this.#attempt(part);
      } catch (error) {
        await this.#afterFailure(error, part);
      } finally {
        await part.close();
      }
    }
  }

  /** Waits before the next attempt. @throws {ModelsError} when there is to be none. */
  async #afterFailure(error: unknown, part: PartFile): Promise<void> {
    const { signal, limits, clock, onNote } = this.#tools;
    if (signal.aborted) throw cancelled(signal.reason);
    if (error instanceof StaleParts && !this.#hasRestarted) {
      this.#hasRestarted = true;
      await part.restart();
      return;
    }
    if (error instanceof ModelsError) {
      if (error.failure === 'wrong-content') await part.discard();
      throw error;
    }
    const trouble = error instanceof ServerTrouble ? error : networkError(error);
    this.#failures += 1;
    this.#failuresInAll += 1;
    const isOver =
      this.#failures > limits.failuresMax || this.#failuresInAll > limits.failuresInAllMax;
    const waitMs = trouble.retryAfterMs ?? waitBeforeRetryMs(this.#failures, limits);
    if (isOver || waitMs > limits.retryAfterMsMax) throw this.#givesUp(trouble);
    const seconds = Math.ceil(waitMs / 1000);
    onNote(`${this.#job.label}: ${trouble.message}; once more in ${seconds} s`);
    await pause(clock, waitMs, signal);
  }

  #givesUp(trouble: ServerTrouble): ModelsError {
    return new ModelsError(
      'network',
      `Cannot download "${this.#job.label}" from "${this.#job.url}": ${trouble.message}; run the same command again later, it goes on where it stopped`,
      { cause: trouble },
    );
  }

  async #attempt(part: PartFile): Promise<FileOutcome> {
    const { source, clock, limits, signal } = this.#tools;
    if (!this.#canResume(part)) await part.restart();
    const watch = new StallWatch({ clock, stallMs: limits.stallMs, signal });
    try {
      const validator = part.origin?.validator;
      const range = part.bytes === 0 ? {} : { range: `bytes=${part.bytes}-` };
      const condition = part.bytes > 0 && validator ? { 'if-range': validator } : {};
      const headers = { ...range, ...condition };
      const answer = await source.get(this.#job.url, { headers, signal: watch.signal });
      try {
        return await this.#take(answer, part, watch);
      } finally {
        // It tells whoever listens that it was broken off, and ends the process where nobody does.
        answer.body.on('error', () => undefined).destroy();
      }
    } catch (error) {
      throw watch.explain(error);
    } finally {
      watch.stop();
    }
  }

  /** Bytes of another address, or of nobody knows where, are only of use where a checksum will tell. */
  #canResume(part: PartFile): boolean {
    if (part.bytes === 0) return false;
    const { expected, url } = this.#job;
    if (expected !== null) return part.bytes <= (expected.bytes ?? part.bytes);
    return part.origin?.url === url && part.origin.validator !== null;
  }

  async #take(answer: HttpAnswer, part: PartFile, watch: StallWatch): Promise<FileOutcome> {
    const now = this.#tools.clock.now();
    const failure = answerError(answer, { ...this.#job, now, isRest: part.bytes > 0 });
    if (failure !== null) throw failure;
    const { allowUnverified, signal } = this.#tools;
    const trusted = trustedSumOf(answer, { ...this.#job, allowUnverified });
    // Beyond our bytes there is nothing: they are the whole file, or they are not its beginning.
    const isAll = answer.status === 416;
    if (!isAll) await this.#settle(answer, part);
    const onBytes = () => watch.heard();
    const sum = await sumOfFile(part.path, trusted.expected, { signal, onBytes });
    this.#tools.onBytes(this.#job, part.bytes);
    if (isAll) return this.#check(part, sum, { ...trusted, isResumed: true, total: null });
    const resumedAt = part.bytes;
    for await (const chunk of answer.body) {
      watch.heard();
      await part.append(chunk);
      sum.update(chunk);
      this.#failures = 0;
      this.#tools.onBytes(this.#job, part.bytes);
      this.#refuseTooLong(part, trusted.expected);
    }
    return this.#check(part, sum, { ...trusted, isResumed: resumedAt > 0, total: totalOf(answer) });
  }

  /** Makes the part fit the answer: what comes is the rest, or the whole. */
  async #settle(answer: HttpAnswer, part: PartFile): Promise<void> {
    const from = answer.status === 206 ? rangeStartOf(answer) : 0;
    if (from !== part.bytes) {
      if (answer.status === 206) throw new StaleParts('the server sends another part');
      this.#tools.onNote(`${this.#job.label}: the server begins at the beginning`);
      await part.restart();
    }
    const { url } = this.#job;
    await part.comesFrom({ url, validator: validatorOf(answer) });
  }

  #refuseTooLong(part: PartFile, expected: ExpectedSum | null): void {
    const bytesMax = expected?.bytes ?? FILE_BYTES_MAX;
    if (part.bytes <= bytesMax) return;
    throw this.#wrongContent(`more than ${bytesMax} bytes came`, expected);
  }

  async #check(
    part: PartFile,
    sum: FileSum,
    facts: TrustedSum & { readonly isResumed: boolean; readonly total: number | null },
  ): Promise<FileOutcome> {
    const { expected, trust, isResumed, total } = facts;
    const bytes = expected?.bytes ?? total;
    if (bytes !== null && sum.bytes < bytes) {
      throw new ServerTrouble(`only ${sum.bytes} of ${bytes} bytes came`);
    }
    const { sha256, isRight } = sum.finish(expected);
    if (isRight && (bytes === null || sum.bytes === bytes)) {
      await part.finish();
      return { state: 'downloaded', sha256, bytes: sum.bytes, trust };
    }
    if (isResumed && !this.#hasRestarted) throw new StaleParts('the parts do not fit together');
    throw this.#wrongContent(`its SHA-256 is ${sha256}, over ${sum.bytes} bytes`, expected);
  }

  #wrongContent(what: string, expected: ExpectedSum | null): ModelsError {
    const wanted = expected === null ? 'its length' : `${expected.algorithm} ${expected.hex}`;
    return new ModelsError(
      'wrong-content',
      `Cannot use "${this.#job.label}" from "${this.#job.url}": ${what}, and ${wanted} was promised; nothing of it was kept. Try another source (MODELS_BASE_URL), and ask its keeper what happened`,
    );
  }
}
