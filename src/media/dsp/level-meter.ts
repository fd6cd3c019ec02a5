/** Levels of both sides of a session, in memory shared by threads; measured only while a listener asks for them. */

/** Whole dB below full scale, from `LEVEL_DBFS_MIN` to 0. */
export interface Levels {
  readonly caller: number;
  readonly agent: number;
}

/** Silence on this scale. */
export const LEVEL_DBFS_MIN = -90;

const IS_ON = 0;
const SIDES = { caller: 1, agent: 2 } as const;

/**
 * Keeps the loudest frame of each side since the last `take`. One thread writes a number, the other takes it; no messages.
 *
 *     Int32 0  1 while it is on
 *     Int32 1  loudest frame of the caller, dBFS
 *     Int32 2  loudest frame of the agent, dBFS
 */
export class LevelMeter {
  /** Crosses to the media thread. */
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
    this.#cells = new Int32Array(this.buffer);
    if (buffer === undefined) this.take();
  }

  /** Whether a listener wants levels. */
  get isOn(): boolean {
    return this.#cells[IS_ON] === 1;
  }

  /** Begins to measure. Safe to call twice. */
  start(): void {
    if (this.isOn) return;
    this.take();
    Atomics.store(this.#cells, IS_ON, 1);
  }

  /** Safe to call twice. */
  stop(): void {
    Atomics.store(this.#cells, IS_ON, 0);
  }

  /** Notes a frame's level, in dBFS. */
  note(side: keyof Levels, levelDbfs: number): void {
    const level = Math.min(0, Math.max(LEVEL_DBFS_MIN, Math.round(levelDbfs)));
    if (level > Atomics.load(this.#cells, SIDES[side])) {
      Atomics.store(this.#cells, SIDES[side], level);
    }
  }

  /** @returns the loudest frames since the last call, and resets both to silence. For a single reader. */
  take(): Levels {
    const take = (cell: number) => Atomics.exchange(this.#cells, cell, LEVEL_DBFS_MIN);
    return { caller: take(SIDES.caller), agent: take(SIDES.agent) };
  }
}

/** Level of digital silence, below the quietest step of 16 bits. */
export const SILENCE_DBFS = -100;

const FULL_SCALE = 32_768;

/** Level of signed 16-bit samples by their mean power, in dB below full scale: from -100 to 0. */
export function levelDbfs(pcm: Int16Array): number {
  return dbfsOf(meanPower(pcm));
}

/** Mean of the samples' squares; unlike dB, these can be averaged. */
export function meanPower(pcm: Int16Array): number {
  const even = pcm.length & ~1;
  // Two sums: a processor adds to one while it waits for the other.
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
