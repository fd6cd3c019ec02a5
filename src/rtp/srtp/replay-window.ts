/** Replay protection of one authenticated stream: each index once, none far behind the newest; pure */

/** RFC 3711, 3.3.2: at least 64. */
export const REPLAY_WINDOW_PACKETS = 64;

/** By the extended index: 48 bits in SRTP, 31 bits in SRTCP. */
export class ReplayWindow {
  #newest = -1;
  /** The newest index seen in each place; an index has the place of its lowest bits. */
  readonly #seen = new Float64Array(REPLAY_WINDOW_PACKETS).fill(-1);

  /** The highest index so far; -1 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** Whether the index is new; one older than the window is not. */
  isNew(index: number): boolean {
    if (index <= this.#newest - REPLAY_WINDOW_PACKETS) return false;
    return this.#seen[index % REPLAY_WINDOW_PACKETS] !== index;
  }

  /** Marks an index as seen. */
  add(index: number): void {
    this.#seen[index % REPLAY_WINDOW_PACKETS] = index;
    if (index > this.#newest) this.#newest = index;
  }
}
