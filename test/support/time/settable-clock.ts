/** The machine's calendar as one process sees it, set while that process runs; the clock that never goes back stays true. */
import { globSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian: faketime. */
const [LIBRARY = ''] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

/** What a test of it lacks on this machine: empty where all is there. */
export const MISSING_FOR_SETTING: readonly string[] = LIBRARY === '' ? ['libfaketime'] : [];

/** Begins with the real calendar. */
export class SettableClock {
  readonly #file: string;
  #aheadMs = 0;

  /** @param folder in which a file of it may be written. */
  constructor(folder: string) {
    this.#file = join(folder, 'calendar');
    this.set(0);
  }

  /** Of a process that is to see it. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** The calendar of the process. */
  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  /** @param aheadMs of the real calendar; behind it where negative. */
  set(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    const seconds = aheadMs / 1000;
    // In one step: an empty file would be the real calendar for an instant.
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
