/** How loud both sides of a session are, in memory shared by threads: measured only while somebody looks. */

/** What travels between threads; wrap it in a `LevelMeter` on arrival. */
export interface LevelMeterBuffer {
  /** The meter's own. */
  readonly cells: SharedArrayBuffer;
  /** An Int32: how many of the meters that share it are on. */
  readonly watched: SharedArrayBuffer;
}

/** Whole dB below full scale, from `LEVEL_DBFS_MIN` to 0. */
export interface Levels {
  readonly caller: number;
  readonly agent: number;
}

/** Silence, and whatever is as good as silent. */
export const LEVEL_DBFS_MIN = -90;

const IS_ON = 0;
const SIDES = { caller: 1, agent: 2 } as const;

/**
 * Keeps the loudest frame of each side since somebody last asked. No message goes between the threads: the one writes
 * a number, the other takes it.
 *
 *     Int32 0  1 while somebody looks
 *     Int32 1  loudest frame of the caller, dBFS
 *     Int32 2  loudest frame of the agent, dBFS
 *
 * Meters of many sessions share a count of those that are on: while nobody looks at any, nothing has to be fetched for each
 * session to see that.
 */
export class LevelMeter {
  readonly buffer: LevelMeterBuffer;
  readonly #cells: Int32Array;
  readonly #watched: Int32Array;

  /** @param watched a view of the count that is shared, which sessions of one thread may share as well. */
  constructor(
    buffer: LevelMeterBuffer = LevelMeter.allocate(),
    watched: Int32Array = new Int32Array(buffer.watched),
  ) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer.cells);
    this.#watched = watched;
  }

  static allocate(watched: SharedArrayBuffer = LevelMeter.allocateCount()): LevelMeterBuffer {
    const cells = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
    new Int32Array(cells).fill(LEVEL_DBFS_MIN, SIDES.caller);
    return { cells, watched };
  }

  /** For meters that are to share it. */
  static allocateCount(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** Whether somebody looks: who plays and hears the session asks before measuring. */
  get isOn(): boolean {
    return this.#watched[0] !== 0 && this.#cells[IS_ON] === 1;
  }

  /** Begins to measure. Safe to call twice. For whoever looks. */
  start(): void {
    if (this.isOn) return;
    this.take();
    Atomics.store(this.#cells, IS_ON, 1);
    Atomics.add(this.#watched, 0, 1);
  }

  /** Safe to call twice. */
  stop(): void {
    if (Atomics.exchange(this.#cells, IS_ON, 0) === 1) Atomics.sub(this.#watched, 0, 1);
  }

  /** Notes a frame's level, in dBFS. For whoever plays and hears the session. */
  note(side: keyof Levels, levelDbfs: number): void {
    const level = Math.min(0, Math.max(LEVEL_DBFS_MIN, Math.round(levelDbfs)));
    if (level > Atomics.load(this.#cells, SIDES[side])) {
      Atomics.store(this.#cells, SIDES[side], level);
    }
  }

  /** The loudest frames since the last time; measuring goes on with silence. For whoever looks: there is one. */
  take(): Levels {
    const take = (cell: number) => Atomics.exchange(this.#cells, cell, LEVEL_DBFS_MIN);
    return { caller: take(SIDES.caller), agent: take(SIDES.agent) };
  }
}

/** What silence counts as: below the quietest step of 16 bits. */
export const SILENCE_DBFS = -100;

const FULL_SCALE = 32_768;

/** Level of signed 16-bit samples by their mean power, in dB below full scale: from -100 to 0. */
export function levelDbfs(pcm: Int16Array): number {
  return dbfsOf(meanPower(pcm));
}

/** Mean of the samples' squares, which levels of several stretches are made of: dB cannot be added. */
export function meanPower(pcm: Int16Array): number {
  const even = pcm.length & ~1;
  // Two sums, since a processor adds to one of them while it waits for the other.
  let power = 0;
  let other = 0;
  for (let index = 0; index < even; index += 2) {
    const sample = pcm[index] ?? 0;
    const next = pcm[index + 1] ?? 0;
    power += sample * sample;
    other += next * next;
  }
  const last = even < pcm.length ? (pcm[even] ?? 0) : 0;
  return pcm.length === 0 ? 0 : (power + other + last * last) / pcm.length;
}

/** Level of a mean power, in dB below full scale: from -100 to 0. */
export function dbfsOf(power: number): number {
  return Math.max(SILENCE_DBFS, 10 * Math.log10(power / FULL_SCALE ** 2));
}
