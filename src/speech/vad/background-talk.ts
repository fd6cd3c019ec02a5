/** Background talk: learns the level of people talking around the caller, below which the detector's voices are not the caller's; pure */

/** One level: 64 ms, two windows of the detector. Longer ones hide the gaps between a single talker's syllables. */
const BLOCK_WINDOWS = 2;

/** VAD windows, two seconds of them, from which background talk is found. */
export const TALK_WINDOWS = 64;

/**
 * Two seconds whose blocks, but for the quietest, differ by no more than this, 14 dB in power, are the talk of several people or a
 * noise: one talker's level falls further between syllables, and over a noise by less.
 */
const STEADY_POWER_RATIO = 25;

/** Blocks of the two seconds. */
const TALK_BLOCKS = TALK_WINDOWS / BLOCK_WINDOWS;

/**
 * Blocks before two steady seconds, four seconds of them, that say whether the line was quiet. With eight seconds, babble that
 * begins with the call passes for a caller.
 */
const BLOCKS_BEFORE = 2 * TALK_BLOCKS;

/**
 * After so many quiet blocks in a row, half a second, steady sound is a voice that has begun since, such as a caller who
 * dictates a number or speaks a long sentence without a pause: the talk of several people goes on all the time.
 */
const QUIET_BLOCKS_MIN = TALK_BLOCKS / 4;

/** Steady sound is talk when the detector takes at least this share of it for a voice. Noise alone has none. */
const TALK_SHARE_MIN = 0.1;

/**
 * Power ratio, 3 dB, of windows with a voice to windows without, above which the caller speaks over a noise: their pauses have
 * the level of the noise, where the talk of several people is as loud with a voice as without.
 */
const OVER_NOISE_POWER_RATIO = 2;

/** The quietest block of new background talk is this much above noise that was heard alone: 6 dB in power. */
const OVER_KNOWN_NOISE_POWER_RATIO = 4;

/** Fewer windows without a voice give no reliable level. */
const UNVOICED_MIN = 4;

/** Least level of the caller's voice over the mean of the background talk: 5 dB in power. */
const MARGIN_POWER_RATIO = 10 ** 0.5;

/** A voice under way needs 3 dB less, so that soft ends of words count. */
const HYSTERESIS_POWER_RATIO = 2;

/** Talk has lulls: a steady sound without a voice sooner than this is one of them. */
const LULL_WINDOWS = 10_000 / 32;

/** Windows without steady talk, 60 s of them, after which the caller has gone elsewhere. */
const MEMORY_WINDOWS = 60_000 / 32;

/** Keeps state: use one instance a call. Takes windows of 32 ms in order. */
export class BackgroundTalk {
  /** Mean squares of the newest windows, a ring, and whether the detector takes each for a voice. */
  readonly #powers = new Float64Array(TALK_WINDOWS);
  readonly #isVoiced = new Uint8Array(TALK_WINDOWS);
  #windows = 0;
  /** Ring with the powers of the newest blocks, also from before a skip: the talk's own, and `BLOCKS_BEFORE`. */
  readonly #blocks = new Float64Array(TALK_BLOCKS + BLOCKS_BEFORE);
  #blockCount = 0;
  /** Mean power of the talk; 0 while there is none. */
  #talkPower = 0;
  #windowsSinceTalk = 0;
  /** Mean power of steady sound without a voice; 0 while unknown. */
  #noisePower = 0;

  /**
   * Whether a window is too quiet to be the caller's voice.
   *
   * @param power mean of its squared samples.
   * @param isVoiceOpen whether the caller's voice is under way.
   */
  covers(power: number, isVoiceOpen: boolean): boolean {
    const least = this.#talkPower * MARGIN_POWER_RATIO;
    return power < (isVoiceOpen ? least / HYSTERESIS_POWER_RATIO : least);
  }

  /**
   * Learns from the next window.
   *
   * @param power mean of its squared samples.
   * @param isVoiced whether the detector takes it for a voice.
   * @returns true when it completes the first two seconds of talk: all their windows are talk, even those too loud for `covers`.
   */
  hear(power: number, isVoiced: boolean): boolean {
    const isKnown = this.#talkPower > 0;
    this.#windowsSinceTalk += 1;
    if (this.#windowsSinceTalk > MEMORY_WINDOWS) this.#talkPower = 0;
    const at = this.#windows % TALK_WINDOWS;
    this.#powers[at] = power;
    this.#isVoiced[at] = isVoiced ? 1 : 0;
    this.#windows += 1;
    if (this.#windows % BLOCK_WINDOWS === 0) this.#keepBlock(at + 1);
    if (this.#windows >= TALK_WINDOWS && this.#windows % BLOCK_WINDOWS === 0) this.#learn();
    return !isKnown && this.#talkPower > 0;
  }

  /** Skips a window without evidence, such as one with the agent's echo; the two seconds start over. */
  skip(): void {
    this.#windows = 0;
  }

  /** @param end of its windows in the ring. */
  #keepBlock(end: number): void {
    const power = meanOf(this.#powers.subarray(end - BLOCK_WINDOWS, end));
    this.#blocks[this.#blockCount % this.#blocks.length] = power;
    this.#blockCount += 1;
  }

  #learn(): void {
    const { lowest, low, highest } = this.#blockBounds();
    if (highest > low * STEADY_POWER_RATIO) return;
    const [voiced, unvoiced] = [this.#powersOf(1), this.#powersOf(0)];
    if (voiced.length === 0) this.#takeNoise(meanOf(unvoiced));
    if (voiced.length < TALK_SHARE_MIN * TALK_WINDOWS) return;
    if (this.#isOverNoise(lowest, meanOf(voiced))) return;
    const pausesPower = unvoiced.length < UNVOICED_MIN ? Number.NaN : meanOf(unvoiced);
    if (!(meanOf(voiced) > OVER_NOISE_POWER_RATIO * pausesPower)) {
      if (this.#talkPower === 0 && this.#wasQuiet()) return;
      this.#talkPower = meanOf(this.#powers);
      this.#windowsSinceTalk = 0;
      this.#noisePower = 0;
      return;
    }
    const wasCaller = this.#talkPower > OVER_NOISE_POWER_RATIO * pausesPower;
    // Two seconds of the caller without a pause were taken for talk.
    if (wasCaller && highest <= lowest * STEADY_POWER_RATIO) this.#talkPower = 0;
  }

  /** Whether the line was quiet for half a second, not long before these two. */
  #wasQuiet(): boolean {
    const quietPower = meanOf(this.#powers) / STEADY_POWER_RATIO;
    const end = this.#blockCount - TALK_BLOCKS;
    let quietBlocks = 0;
    for (let at = Math.max(0, end - BLOCKS_BEFORE); at < end; at += 1) {
      const isQuiet = (this.#blocks[at % this.#blocks.length] as number) < quietPower;
      quietBlocks = isQuiet ? quietBlocks + 1 : 0;
      if (quietBlocks >= QUIET_BLOCKS_MIN) return true;
    }
    return false;
  }

  /** Whether the voices are louder than a noise that was heard alone, and go down to it. */
  #isOverNoise(lowest: number, voicedPower: number): boolean {
    return (
      lowest < this.#noisePower * OVER_KNOWN_NOISE_POWER_RATIO &&
      voicedPower > this.#noisePower * OVER_NOISE_POWER_RATIO
    );
  }

  #takeNoise(power: number): void {
    if (this.#talkPower > 0 && this.#windowsSinceTalk <= LULL_WINDOWS) return;
    this.#noisePower = power;
    this.#talkPower = 0;
  }

  #blockBounds(): { readonly lowest: number; readonly low: number; readonly highest: number } {
    const blocks = new Float64Array(TALK_BLOCKS).map((_, block) => {
      const at = block * BLOCK_WINDOWS;
      return meanOf(this.#powers.subarray(at, at + BLOCK_WINDOWS));
    });
    // Now and then several talkers pause together: one block may be quieter.
    const [lowest = 0, low = 0, ...louder] = blocks.sort();
    return { lowest, low, highest: louder.at(-1) ?? 0 };
  }

  #powersOf(voiced: 0 | 1): Float64Array {
    return this.#powers.filter((_, at) => this.#isVoiced[at] === voiced);
  }
}

/** @returns NaN for none. */
function meanOf(powers: Float64Array): number {
  return powers.reduce((sum, power) => sum + power, 0) / powers.length;
}
