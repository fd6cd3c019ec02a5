/** Tells apart the keys of a far end that sends each of them twice: in its sound (RFC 4733) and by SIP INFO; pure */

/** One for each leg. A key is to be told to it once for each way that it comes by. */
export class KeyWays {
  #hasComeInSound = false;
  #newestByInfo: string | undefined;

  /**
   * Takes a key that came by INFO. Whoever has pressed one in the sound presses all of them there.
   *
   * @returns whether it is a key of its own.
   */
  byInfo(digit: string): boolean {
    if (this.#hasComeInSound) return false;
    this.#newestByInfo = digit;
    return true;
  }

  /**
   * Takes a key that came in the sound. The first of a call may have been overtaken by its INFO.
   *
   * @returns whether it is a key of its own.
   */
  inSound(digit: string): boolean {
    const isFirst = !this.#hasComeInSound;
    this.#hasComeInSound = true;
    return !isFirst || digit !== this.#newestByInfo;
  }
}
