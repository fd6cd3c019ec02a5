/** Rings of sound in memory that threads share: of the caller's audio with many readers, and of speech for a media thread. */

/** Length of the ring, in milliseconds. */
export const RING_MS = 4096;

const RATE_HZ = 8000;
const CAPACITY_SAMPLES = (RATE_HZ * RING_MS) / 1000;
const HOLDER_AT = 24;
const HEADER_BYTES = 32;

/** Crosses between threads; wrap it in a `ReceiveRing` on arrival. */
export interface ReceiveRingBuffer {
  readonly memory: SharedArrayBuffer;
  /** Number of the call that has the memory, counted from 0. */
  readonly holder: number;
}

/**
 * PCM at 8 kHz, mono, signed 16-bit. A sample's **position** is its number since the ring was made; it only grows.
 *
 *     bytes 0..7   Float64: position after the newest sample (written by the media worker alone)
 *     bytes 8..15  Float64: instant of that position, `Clock.nowMs()`
 *     bytes 16..23 Float64: position after the newest sample that may hold an echo of the agent's voice
 *     bytes 24..27 Int32: the holder
 *     bytes 32..   the samples, position modulo the capacity
 */
export class ReceiveRing {
  readonly buffer: ReceiveRingBuffer;
  readonly #header: Float64Array;
  readonly #holder: Int32Array;
  readonly #samples: Int16Array;

  constructor(buffer: ReceiveRingBuffer = ReceiveRing.allocate()) {
    const { memory } = buffer;
    this.buffer = buffer;
    this.#header = new Float64Array(memory, 0, 3);
    this.#holder = new Int32Array(memory, HOLDER_AT, 1);
    this.#samples = new Int16Array(memory, HEADER_BYTES, CAPACITY_SAMPLES);
  }

  static allocate(): ReceiveRingBuffer {
    const memory = new SharedArrayBuffer(HEADER_BYTES + CAPACITY_SAMPLES * 2);
    return { memory, holder: 0 };
  }

  /**
   * Hands the memory to another call as an empty ring; this ring reads as empty from now on, in all threads. Call it on the
   * newest holder's ring, after its last write.
   */
  renew(): ReceiveRing {
    const holder = this.buffer.holder + 1;
    Atomics.store(this.#holder, 0, holder);
    this.#header.fill(0);
    return new ReceiveRing({ memory: this.buffer.memory, holder });
  }

  /** Position after the newest sample. */
  get end(): number {
    return this.#header[0] ?? 0;
  }

  /** Arrival of the newest sample, `Clock.nowMs()`. */
  get endAtMs(): number {
    return this.#header[1] ?? 0;
  }

  /** Position after the newest sample that may hold an echo of the agent's voice; 0 where there was none. */
  get echoEnd(): number {
    return this.#header[2] ?? 0;
  }

  /** Position of the audio of an instant, limited to the audio in the ring. */
  positionAt(instantMs: number): number {
    const behind = Math.round(((this.endAtMs - instantMs) * RATE_HZ) / 1000);
    return Math.min(this.end, Math.max(this.oldest, this.end - behind));
  }

  /** Oldest position in the ring. */
  get oldest(): number {
    return Math.max(0, this.end - CAPACITY_SAMPLES);
  }

  /** Adds samples. Only for the media worker. @param mayEcho whether an echo of the agent's voice may be in them. */
  write(pcm: Int16Array, atMs: number, mayEcho = false): void {
    const start = this.end;
    const at = start % CAPACITY_SAMPLES;
    if (at + pcm.length <= CAPACITY_SAMPLES) {
      this.#samples.set(pcm, at);
    } else {
      for (let index = 0; index < pcm.length; index += 1) {
        this.#samples[(start + index) % CAPACITY_SAMPLES] = pcm[index] ?? 0;
      }
    }
    if (mayEcho) this.#header[2] = start + pcm.length;
    this.#header[1] = atMs;
    this.#header[0] = start + pcm.length;
  }

  /**
   * Copies the audio from position `from` to the newest, as far as it is in the ring. @returns no samples once another call has
   * the memory.
   */
  read(from: number): Int16Array {
    const end = this.end;
    const start = Math.max(from, end - CAPACITY_SAMPLES, 0);
    const pcm = new Int16Array(Math.max(0, end - start));
    for (let index = 0; index < pcm.length; index += 1) {
      pcm[index] = this.#samples[(start + index) % CAPACITY_SAMPLES] ?? 0;
    }
    // Checked after the copying: the next holder's audio is written after its number.
    return Atomics.load(this.#holder, 0) === this.buffer.holder ? pcm : new Int16Array(0);
  }
}

/** Free rings that are kept: 32 MB, one thread's calls. The rest is left to garbage collection. */
const KEPT_RINGS_MAX = 500;

interface Resting {
  readonly ring: ReceiveRing;
  readonly sinceMs: number;
}

/** Pool of receive rings. Release a ring after its last write. Instants are of one clock that never goes back. */
export class RingPool {
  readonly #claimed = new Set<ReceiveRing>();
  /** Longest rest first. */
  readonly #resting: Resting[] = [];

  /**
   * @returns an empty ring. A released ring rests for its own length first, so that the last words of its call can be read;
   * readers of the old ring get no audio of the new call.
   */
  claim(nowMs: number): ReceiveRing {
    const [oldest] = this.#resting;
    const isRested = oldest !== undefined && nowMs - oldest.sinceMs >= RING_MS;
    if (isRested) this.#resting.shift();
    const ring = isRested ? oldest.ring.renew() : new ReceiveRing();
    this.#claimed.add(ring);
    return ring;
  }

  /** Safe to call twice. */
  release(ring: ReceiveRing, nowMs: number): void {
    if (!this.#claimed.delete(ring) || this.#resting.length >= KEPT_RINGS_MAX) return;
    this.#resting.push({ ring, sinceMs: nowMs });
  }
}

/** Crosses between threads; wrap it in a `SpeechRing` on arrival. */
export type SpeechRingBuffer = SharedArrayBuffer;

/** A minute of speech for all sessions of a thread; each message empties its part. A power of two. */
export const SPEECH_RING_SAMPLES = 2 ** 19;

const SPEECH_HEADER_BYTES = 8;
const WRITTEN = 0;
const READ = 1;

/**
 * Audio in messages is allocated by one thread and collected by the other, and collections delay packets. Here a message
 * has only the number of samples.
 *
 *     Int32 0  samples written since the ring was made, 32 bits
 *     Int32 1  samples read, likewise
 *     then     the samples, signed 16-bit, position modulo the capacity
 */
export class SpeechRing {
  readonly buffer: SpeechRingBuffer;
  readonly #counts: Int32Array;
  readonly #samples: Int16Array;

  constructor(buffer: SpeechRingBuffer = SpeechRing.allocate()) {
    this.buffer = buffer;
    this.#counts = new Int32Array(buffer, 0, 2);
    this.#samples = new Int16Array(buffer, SPEECH_HEADER_BYTES, SPEECH_RING_SAMPLES);
  }

  static allocate(): SpeechRingBuffer {
    return new SharedArrayBuffer(
      SPEECH_HEADER_BYTES + SPEECH_RING_SAMPLES * Int16Array.BYTES_PER_ELEMENT,
    );
  }

  /** Adds a copy. Only for the writer. @returns false, and adds nothing, when there is no room for all of it. */
  write(pcm: Int16Array): boolean {
    const written = Atomics.load(this.#counts, WRITTEN);
    const waiting = (written - Atomics.load(this.#counts, READ)) >>> 0;
    if (waiting + pcm.length > SPEECH_RING_SAMPLES) return false;
    const at = placeOf(written);
    const straight = Math.min(pcm.length, SPEECH_RING_SAMPLES - at);
    this.#samples.set(pcm.subarray(0, straight), at);
    if (straight < pcm.length) this.#samples.set(pcm.subarray(straight), 0);
    Atomics.store(this.#counts, WRITTEN, written + pcm.length);
    return true;
  }

  /**
   * Takes the oldest samples out. Only for the reader.
   *
   * @param take receives them in order, in up to two views that are valid during the call.
   */
  read(length: number, take: (pcm: Int16Array) => void): void {
    const read = Atomics.load(this.#counts, READ);
    const at = placeOf(read);
    const straight = Math.min(length, SPEECH_RING_SAMPLES - at);
    take(this.#samples.subarray(at, at + straight));
    if (straight < length) take(this.#samples.subarray(0, length - straight));
    Atomics.store(this.#counts, READ, read + length);
  }
}

function placeOf(count: number): number {
  return count & (SPEECH_RING_SAMPLES - 1);
}
