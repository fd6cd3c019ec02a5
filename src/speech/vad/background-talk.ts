/** Background talk: learns the level of people talking around the caller, below which the detector's voices are not the caller's; pure */

import { halveRate, pitchClarity } from './pitch-clarity.ts';

/** One level: 64 ms, two windows of the detector. Longer ones hide the gaps between a single talker's syllables. */
const BLOCK_WINDOWS = 2;

/** VAD windows, two seconds of them, from which background talk is found. */
export const TALK_WINDOWS = 64;

/**
 * Two seconds whose blocks, but for the quietest, differ by no more than this, 14 dB in power, are the talk of several people, a
 * noise, or one talker without a pause.
 */
const STEADY_POWER_RATIO = 25;

/** Blocks of the two seconds. */
const TALK_BLOCKS = TALK_WINDOWS / BLOCK_WINDOWS;

/**
 * The louder half of one talker's blocks have at least this mean pitch clarity: 0.71 and more of recorded speech, 0.67 and more in
 * 95 % over a noise 8 dB below. Five talkers and more have less than 0.64 in 95 %, four have 0.59 in the median.
 */
const ONE_TALKER_CLARITY_MIN = 0.66;

/** The detector takes at least this share of one talker's windows for a voice: 0.95 and more, but of a band's 0.1 to 0.3. */
const ONE_TALKER_SHARE_MIN = 0.5;

/** Samples of a window at the rate of `pitchClarity`. */
const PITCH_SAMPLES = 128;

/** Steady sound is talk when the detector takes at least this share of it for a voice. Noise alone has none. */
const TALK_SHARE_MIN = 0.1;

/**
 * Power ratio, 2 dB, of windows with a voice to windows without, above which the caller speaks over a noise: their pauses have
 * the level of the noise, where the talk of several people is as loud with a voice as without. Recorded
 * voices 5 dB above a noise that was heard alone have 2 dB and more nearly always, but not 3 dB.
 */
const OVER_NOISE_POWER_RATIO = 1.6;

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

/**
 * Windows in a row, a second of them, that are quieter than the talk by `STEADY_POWER_RATIO`, after which it has stopped: the next
 * voice is the caller's.
 */
const STOPPED_WINDOWS = 32;

/** Windows without steady talk, 60 s of them, after which the caller has gone elsewhere. */
const MEMORY_WINDOWS = 60_000 / 32;

/** Keeps state: use one instance a call. Takes windows of 32 ms in order. */
export class BackgroundTalk {
  /** Mean squares of the newest windows, a ring, and whether the detector takes each for a voice. */
  readonly #powers = new Float64Array(TALK_WINDOWS);
  readonly #isVoiced = new Uint8Array(TALK_WINDOWS);
  /** Their samples, at 4 kHz. */
  readonly #samples = new Int16Array(TALK_WINDOWS * PITCH_SAMPLES);
  /** Pitch clarity of each block; NaN until it is needed. */
  readonly #clarities = new Float64Array(TALK_BLOCKS);
  #windows = 0;
  /** Mean power of the talk; 0 while there is none. */
  #talkPower = 0;
  #windowsSinceTalk = 0;
  #quietWindows = 0;
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
   * @param pcm its 256 samples, 8 kHz.
   * @param power mean of its squared samples.
   * @param isVoiced whether the detector takes it for a voice.
   * @returns true when it completes the first two seconds of talk: all their windows are talk, even those too loud for `covers`.
   */
  hear(pcm: Int16Array, power: number, isVoiced: boolean): boolean {
    const isKnown = this.#talkPower > 0;
    this.#windowsSinceTalk += 1;
    this.#quietWindows = power < this.#talkPower / STEADY_POWER_RATIO ? this.#quietWindows + 1 : 0;
    const hasStopped = this.#quietWindows >= STOPPED_WINDOWS;
    if (hasStopped || this.#windowsSinceTalk > MEMORY_WINDOWS) this.#talkPower = 0;
    const at = this.#windows % TALK_WINDOWS;
    this.#powers[at] = power;
    this.#isVoiced[at] = isVoiced ? 1 : 0;
    halveRate(pcm, this.#samples, at * PITCH_SAMPLES);
    this.#clarities[Math.floor(at / BLOCK_WINDOWS)] = Number.NaN;
    this.#windows += 1;
    if (this.#windows >= TALK_WINDOWS && this.#windows % BLOCK_WINDOWS === 0) this.#learn();
    return !isKnown && this.#talkPower > 0;
  }

  /** Skips a window without evidence, such as one with the agent's echo; the two seconds start over. */
  skip(): void {
    this.#windows = 0;
  }

  #learn(): void {
    const blocks = this.#blockPowers();
    // Now and then several talkers pause together: one block may be quieter.
    const [lowest = 0, low = 0, ...louder] = blocks.toSorted();
    const highest = louder.at(-1) ?? 0;
    if (highest > low * STEADY_POWER_RATIO) return;
    const [voiced, unvoiced] = [this.#powersOf(1), this.#powersOf(0)];
    if (voiced.length === 0) this.#takeNoise(meanOf(unvoiced));
    if (voiced.length < TALK_SHARE_MIN * TALK_WINDOWS || !this.#goesOn()) return;
    if (this.#isOverNoise(lowest, meanOf(voiced))) return;
    const pausesPower = unvoiced.length < UNVOICED_MIN ? Number.NaN : meanOf(unvoiced);
    if (!(meanOf(voiced) > OVER_NOISE_POWER_RATIO * pausesPower)) {
      // Also while talk is known: a caller who speaks over it without a pause would raise its level to their own.
      if (this.#isOneTalker(blocks, voiced.length)) return;
      this.#talkPower = meanOf(this.#powers);
      this.#windowsSinceTalk = 0;
      this.#noisePower = 0;
      return;
    }
    const wasCaller = this.#talkPower > OVER_NOISE_POWER_RATIO * pausesPower;
    // Two seconds of the caller without a pause were taken for talk.
    if (wasCaller && highest <= lowest * STEADY_POWER_RATIO) this.#talkPower = 0;
  }

  /** Whether a voice is also in the second of the two seconds: a caller's last word, before a noise, is in the first alone. */
  #goesOn(): boolean {
    for (let age = 1; age <= TALK_WINDOWS / 2; age += 1) {
      if (this.#isVoiced[(this.#windows - age) % TALK_WINDOWS] === 1) return true;
    }
    return false;
  }

  /** Whether the voice is a single one, which has a pitch. */
  #isOneTalker(blocks: Float64Array, voicedWindows: number): boolean {
    if (voicedWindows < ONE_TALKER_SHARE_MIN * TALK_WINDOWS) return false;
    const loudest = [...blocks.keys()]
      .sort((one, other) => (blocks[other] as number) - (blocks[one] as number))
      .slice(0, TALK_BLOCKS / 2);
    const clarities = Float64Array.from(loudest, (block) => this.#clarityOf(block));
    return meanOf(clarities) >= ONE_TALKER_CLARITY_MIN;
  }

  #clarityOf(block: number): number {
    const known = this.#clarities[block] as number;
    if (!Number.isNaN(known)) return known;
    const samples = BLOCK_WINDOWS * PITCH_SAMPLES;
    const clarity = pitchClarity(this.#samples.subarray(block * samples, (block + 1) * samples));
    this.#clarities[block] = clarity;
    return clarity;
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

  #blockPowers(): Float64Array {
    return new Float64Array(TALK_BLOCKS).map((_, block) => {
      const at = block * BLOCK_WINDOWS;
      return meanOf(this.#powers.subarray(at, at + BLOCK_WINDOWS));
    });
  }

  #powersOf(voiced: 0 | 1): Float64Array {
    return this.#powers.filter((_, at) => this.#isVoiced[at] === voiced);
  }
}

/** @returns NaN for none. */
function meanOf(powers: Float64Array): number {
  return powers.reduce((sum, power) => sum + power, 0) / powers.length;
}
