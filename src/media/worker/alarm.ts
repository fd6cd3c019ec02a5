/** Lets a thread sleep to the tenth of a millisecond and yet be woken by another. */

/** Memory that the two threads share: how often the alarm has rung. */
export type AlarmMemory = Int32Array<SharedArrayBuffer>;

export function newAlarmMemory(): AlarmMemory {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Each thread makes one of its own over the same memory. */
export class Alarm {
  readonly #rings: AlarmMemory;
  #heard = 0;

  constructor(memory: AlarmMemory) {
    this.#rings = memory;
  }

  /** Wakes whoever sleeps, or keeps them from falling asleep. */
  ring(): void {
    Atomics.add(this.#rings, 0, 1);
    Atomics.notify(this.#rings, 0);
  }

  /**
   * Stops the thread for so long, or until the alarm rings.
   *
   * @returns false when it has rung since the sleep before this one.
   */
  sleep(lengthMs: number): boolean {
    const isOver = Atomics.wait(this.#rings, 0, this.#heard, lengthMs) === 'timed-out';
    if (!isOver) this.#heard = Atomics.load(this.#rings, 0);
    return isOver;
  }
}
