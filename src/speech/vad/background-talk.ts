/** Background talk: learns the level of people talking around the caller, below which the detector's voices are not the caller's; pure */

/** One level: 64 ms, two windows of the detector. Longer ones hide the gaps between a single talker's syllables. */
const BLOCK_WINDOWS = 2;

/** Two seconds of blocks. */
const BLOCKS = 32;

/**
 * Two seconds whose blocks differ by no more than this have no near voice in them: 14 dB in power. Of six synthetic voices
 * that talk for 25 s without a breath, no two seconds vary by less than 16 dB; the talk of eight people varies by 6 to 11 dB.
 */
const STEADY_POWER_RATIO = 25;

/** Steady sound is talk when the detector takes at least this share of it for a voice. Noise alone has none. */
const TALK_SHARE_MIN = 0.1;

/** The quietest block of new background talk is this much above known noise: 6 dB in power. Below, the caller speaks over that noise. */
const OVER_NOISE_POWER_RATIO = 4;

/** Least level of the caller's voice over the mean of the background talk: 5 dB in power. */
const MARGIN_POWER_RATIO = 10 ** 0.5;

/** A voice under way needs 3 dB less, so that soft ends of words count. */
const HYSTERESIS_POWER_RATIO = 2;

/** Talk has lulls: a steady sound without a voice sooner than this is one of them. */
const LULL_WINDOWS = 10_000 / 32;

/** Without steady talk for this long, the caller has gone elsewhere. */
const MEMORY_WINDOWS = 60_000 / 32;

/** Keeps state: use one instance a call. Takes windows of 32 ms in order. */
export class BackgroundTalk {
  /** Mean power of the newest blocks, a ring. */
  readonly #powers = new Float64Array(BLOCKS);
  /** Voiced windows in each of them. */
  readonly #voiced = new Uint8Array(BLOCKS);
  #blocks = 0;
  #windows = 0;
  #blockPower = 0;
  #blockVoiced = 0;
  /** Mean power of the talk; 0 while there is none. */
  #talkPower = 0;
  #windowsSinceTalk = 0;
  /** Mean power of steady sound without a voice; null while unknown. */
  #noisePower: number | null = null;

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
   */
  hear(power: number, isVoiced: boolean): void {
    this.#windowsSinceTalk += 1;
    if (this.#windowsSinceTalk > MEMORY_WINDOWS) this.#talkPower = 0;
    this.#windows += 1;
    this.#blockPower += power / BLOCK_WINDOWS;
    if (isVoiced) this.#blockVoiced += 1;
    if (this.#windows % BLOCK_WINDOWS !== 0) return;
    const at = this.#blocks % BLOCKS;
    this.#powers[at] = this.#blockPower;
    this.#voiced[at] = this.#blockVoiced;
    [this.#blockPower, this.#blockVoiced] = [0, 0];
    this.#blocks += 1;
    if (this.#blocks >= BLOCKS) this.#learn();
  }

  /** A window that says nothing, such as one with the agent's echo: two seconds are gathered afresh. */
  skip(): void {
    this.#blocks = 0;
    this.#windows = 0;
    [this.#blockPower, this.#blockVoiced] = [0, 0];
  }

  #learn(): void {
    let [lowest, highest, sum, voiced] = [Number.POSITIVE_INFINITY, 0, 0, 0];
    for (let block = 0; block < BLOCKS; block += 1) {
      const power = this.#powers[block] as number;
      lowest = Math.min(lowest, power);
      highest = Math.max(highest, power);
      sum += power;
      voiced += this.#voiced[block] as number;
    }
    if (highest > lowest * STEADY_POWER_RATIO) return;
    const mean = sum / BLOCKS;
    if (voiced === 0) this.#takeNoise(mean);
    else if (voiced >= TALK_SHARE_MIN * BLOCKS * BLOCK_WINDOWS) this.#takeTalk(mean, lowest);
  }

  #takeNoise(mean: number): void {
    if (this.#talkPower > 0 && this.#windowsSinceTalk <= LULL_WINDOWS) return;
    this.#noisePower = mean;
    this.#talkPower = 0;
  }

  #takeTalk(mean: number, lowest: number): void {
    if (lowest < (this.#noisePower ?? 0) * OVER_NOISE_POWER_RATIO) return;
    this.#talkPower = mean;
    this.#windowsSinceTalk = 0;
    this.#noisePower = null;
  }
}
