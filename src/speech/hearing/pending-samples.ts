/** Audio that waits to be cut into windows, in memory that is used again; pure */

/** Two windows: what one tick leaves over, and what comes until the next. */
const SAMPLES_FIRST = 512;

export class PendingSamples {
  #samples = new Int16Array(SAMPLES_FIRST);
  #start = 0;
  #end = 0;

  /** Adds a copy at the end. */
  push(pcm: Int16Array): void {
    if (this.#end + pcm.length > this.#samples.length) this.#makeRoom(pcm.length);
    this.#samples.set(pcm, this.#end);
    this.#end += pcm.length;
  }

  /** Takes the oldest samples out; null when there are fewer. Valid until the next `push`. */
  take(count: number): Int16Array | null {
    if (this.#end - this.#start < count) return null;
    const window = this.#samples.subarray(this.#start, this.#start + count);
    this.#start += count;
    return window;
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** Moves what waits to the front, into larger memory where it has grown. */
  #makeRoom(count: number): void {
    const waiting = this.#samples.subarray(this.#start, this.#end);
    if (waiting.length + count > this.#samples.length) {
      this.#samples = new Int16Array(2 * (waiting.length + count));
      this.#samples.set(waiting);
    } else {
      this.#samples.copyWithin(0, this.#start, this.#end);
    }
    this.#end = waiting.length;
    this.#start = 0;
  }
}
