/** Digits that a tool collects: taken past the turn machine, while the caller's sound is private. */
import type { Clock } from '../../lib/clock.ts';
import type { AudioStream } from '../../media/audio-stream.ts';

/** How long the caller may take to find the card and begin. */
const FIRST_KEY_MS = 15_000;

/** Time limit between two keys: as long as it takes to look at the card again. */
const NEXT_KEY_MS = 6000;

/** The last key's tone may still be in the sound, and `#` may follow a number that was complete without it. */
const TAIL_MS = 500;
const LATE_HASH_MS = 3000;

/** Keys that are kept for a tool that has not begun to take them. */
const EARLY_MAX = 32;

interface Entry {
  readonly max: number;
  digits: string;
  readonly end: () => void;
}

/** The keypad of one call; at most one entry is open. */
export class Keypad {
  readonly #clock: Clock;
  readonly #audio: Pick<AudioStream, 'setPrivate'>;
  readonly #onEntry: (count: number) => void;
  #entry: Entry | undefined;
  #early = '';
  #closedAtMs = Number.NEGATIVE_INFINITY;
  #cancelWait: () => void = () => undefined;

  /** @param options.onEntry called with the number of digits of an entry that is over, where there were any. */
  constructor(options: {
    readonly clock: Clock;
    readonly audio: Pick<AudioStream, 'setPrivate'>;
    readonly onEntry: (count: number) => void;
  }) {
    this.#clock = options.clock;
    this.#audio = options.audio;
    this.#onEntry = options.onEntry;
  }

  /**
   * Opens an entry. Keys that came early are its first.
   *
   * @returns the digits, once `#`, the last possible digit, a pause or `signal` has ended the entry.
   */
  async collect(max: number, signal: AbortSignal): Promise<string> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const entry: Entry = { max, digits: '', end };
    this.#entry = entry;
    this.#audio.setPrivate(true);
    const onAbort = () => end();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) end();
    this.#wait(FIRST_KEY_MS, end);
    const early = this.#early;
    this.#early = '';
    for (const key of early) this.take(key);
    await promise;
    signal.removeEventListener('abort', onAbort);
    this.#close();
    if (entry.digits !== '') this.#onEntry(entry.digits.length);
    return entry.digits;
  }

  /** Keeps a key that is meant for the entry that is about to open; the sound is private from now on. */
  typeAhead(key: string): void {
    if (this.#early.length < EARLY_MAX) this.#early += key;
    this.#audio.setPrivate(true);
    this.#wait(TAIL_MS, () => this.#rest());
  }

  /** @returns whether the key belongs to an entry. */
  take(key: string): boolean {
    const entry = this.#entry;
    if (entry === undefined) {
      return key === '#' && this.#clock.nowMs() - this.#closedAtMs < LATE_HASH_MS;
    }
    if (key === '*') entry.digits = '';
    else if (/^\d$/.test(key) && entry.digits.length < entry.max) entry.digits += key;
    if (key === '#' || entry.digits.length >= entry.max) entry.end();
    this.#wait(entry.digits === '' ? FIRST_KEY_MS : NEXT_KEY_MS, entry.end);
    return true;
  }

  #wait(delayMs: number, ring: () => void): void {
    this.#cancelWait();
    this.#cancelWait = this.#clock.after(delayMs, ring);
  }

  #close(): void {
    this.#entry = undefined;
    this.#closedAtMs = this.#clock.nowMs();
    this.#wait(TAIL_MS, () => this.#rest());
  }

  /** No entry is open or about to open: the caller is heard. */
  #rest(): void {
    this.#early = '';
    this.#audio.setPrivate(false);
  }
}
