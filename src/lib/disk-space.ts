/** Free space of a disk, checked regularly. */
import { statfs } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { messageOf } from './unknown-value.ts';

/** 200 recordings fill 32 MB meanwhile. */
const LOOK_MS = 5000;

const GIB = 1024 ** 3;

/** From here on whole gigabytes say enough. */
const GIB_FROM = 10;

const MIB = 1024 * 1024;

/** Free bytes for this process's user on the disk of a folder. @throws {Error} of the file system. */
export type FreeBytesOf = (folder: string) => Promise<number>;

const systemFreeBytesOf: FreeBytesOf = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** The free space of one folder's disk, looked at every 5 s between `start` and `stop`. */
export class DiskSpace {
  readonly #options: ConstructorParameters<typeof DiskSpace>[0];
  #freeBytes: number | undefined;
  #problem: string | undefined;
  #isShort = false;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  constructor(options: {
    readonly folder: string;
    /** Bound below which the disk counts as full, in MiB; 0 for none. */
    readonly freeMinMb: number;
    readonly freeBytesOf?: FreeBytesOf;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#options = options;
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.#look();
    if (this.#isStopped) return;
    this.#cancel = this.#options.clock.after(LOOK_MS, () => void this.start());
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Undefined where the file system does not say. */
  get freeBytes(): number | undefined {
    return this.#freeBytes;
  }

  get freeMinBytes(): number {
    return this.#options.freeMinMb * MIB;
  }

  /** Whether less is free than the bound. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** How much is free, in plain English. */
  get state(): string {
    if (this.#freeBytes === undefined)
      return `free space is unknown: ${this.#problem ?? 'not read yet'}`;
    const free = freeText(this.#freeBytes);
    return this.#isShort
      ? `${free}, less than DISK_FREE_MIN_MB (${this.#options.freeMinMb})`
      : free;
  }

  async #look(): Promise<void> {
    const { folder, freeBytesOf = systemFreeBytesOf } = this.#options;
    try {
      this.#freeBytes = await freeBytesOf(folder);
    } catch (error) {
      this.#freeBytes = undefined;
      this.#problem = messageOf(error);
    }
    this.#judge();
  }

  #judge(): void {
    const { folder, freeMinMb, log } = this.#options;
    const freeBytes = this.#freeBytes;
    // An unknown figure is no reason to stop recording: a write that fails says so itself.
    const isShort = freeBytes !== undefined && freeBytes < this.freeMinBytes;
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    const facts = { folder, freeBytes, freeMinMb };
    if (isShort) log.warn(facts, 'the disk is nearly full: new calls are not recorded');
    else log.info(facts, 'the disk has room again: new calls are recorded');
  }
}

function freeText(freeBytes: number): string {
  return freeBytes >= GIB_FROM * GIB
    ? `${Math.floor(freeBytes / GIB)} GB free`
    : `${Math.floor(freeBytes / MIB)} MB free`;
}
