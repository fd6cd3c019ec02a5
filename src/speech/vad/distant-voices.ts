/** Distant voices: learns the caller's level, far below which a voice is a television's or another person's in the room; pure */

/** Windows of the caller's voice, a second of them, before their level counts. */
const KNOWN_WINDOWS = 32;

/** The level follows a louder voice within a second: windows until two thirds of the way up. */
const RISE_WINDOWS = 32;

/**
 * The level follows a softer voice within half a minute of that voice, heard or not: a caller who walks away from the telephone
 * or hands it over is heard again. Windows until two thirds of the way down.
 */
const FALL_WINDOWS = 1000;

/** Distant voices are this far below the caller's level. */
const MARGIN_DB = 12;

/** A voice under way needs 4 dB less, so that soft ends of words count. */
const HYSTERESIS_DB = 4;

/**
 * A distant voice is known by so many voiced windows in a row below the margin, half a second of them. The soft words of a caller
 * are shorter: without this, a tenth of the voice of recorded people counted as silence, in quiet rooms too.
 */
const KNOWN_DISTANT_WINDOWS = 16;

/** Windows without such a voice, 60 s of them, after which the television is off. */
const MEMORY_WINDOWS = 60_000 / 32;

/** Keeps state: use one instance a call. Takes windows of 32 ms in order. */
export class DistantVoices {
  /** In dB. Rises faster than it falls, so that it is the level of loud syllables. */
  #callerDb = 0;
  #callerWindows = 0;
  #distantInRow = 0;
  #windowsSinceDistant = Number.POSITIVE_INFINITY;

  /**
   * Whether a window is too quiet to be the caller's voice; none is before a distant voice is known.
   *
   * @param power mean of its squared samples.
   * @param isVoiceOpen whether the caller's voice is under way.
   */
  covers(power: number, isVoiceOpen: boolean): boolean {
    if (this.#windowsSinceDistant > MEMORY_WINDOWS) return false;
    return this.#isBelow(power, isVoiceOpen ? MARGIN_DB + HYSTERESIS_DB : MARGIN_DB);
  }

  /**
   * Learns from the next window.
   *
   * @param window.power mean of its squared samples.
   * @param window.isVoiced whether the detector takes it for a voice.
   * @param window.isVoiceOpen whether the caller's voice is under way: a knock that sounds like a voice for one window has no level.
   */
  hear(window: {
    readonly power: number;
    readonly isVoiced: boolean;
    readonly isVoiceOpen: boolean;
  }): void {
    const { power, isVoiced, isVoiceOpen } = window;
    this.#windowsSinceDistant += 1;
    const isDistant = isVoiced && this.#isBelow(power, MARGIN_DB);
    this.#distantInRow = isDistant ? this.#distantInRow + 1 : 0;
    if (this.#distantInRow >= KNOWN_DISTANT_WINDOWS) this.#windowsSinceDistant = 0;
    if (isVoiced && (isVoiceOpen || isDistant)) this.#learn(dbOf(power));
  }

  #learn(heardDb: number): void {
    this.#callerWindows += 1;
    const isFalling = this.#isKnown && heardDb < this.#callerDb;
    const followWindows = isFalling ? FALL_WINDOWS : Math.min(RISE_WINDOWS, this.#callerWindows);
    this.#callerDb += (heardDb - this.#callerDb) / followWindows;
  }

  get #isKnown(): boolean {
    return this.#callerWindows >= KNOWN_WINDOWS;
  }

  #isBelow(power: number, marginDb: number): boolean {
    return this.#isKnown && dbOf(power) < this.#callerDb - marginDb;
  }
}

/** @param power a digital silence counts as 1. */
function dbOf(power: number): number {
  return 10 * Math.log10(Math.max(1, power));
}
