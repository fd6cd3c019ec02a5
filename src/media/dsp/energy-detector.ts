/** Tells when a caller begins and ceases to speak, by loudness over the line's own noise; pure */
import { FRAME_MS } from '../audio-stream.ts';
import { levelDbfs, SILENCE_DBFS } from './level-meter.ts';

/** So many voiced frames in a row are speech; a click or a cough's edge fills one or two. */
export const VOICE_FRAMES = 3;

/** So many quiet frames in a row end it: 60 ms. */
export const QUIET_FRAMES = 3;

export type VoiceChange =
  | { readonly kind: 'voice-started'; readonly atMs: number }
  | { readonly kind: 'voice-stopped'; readonly lastVoicedAtMs: number };

/** Quieter than this is never speech: the noise of a telephone line without anyone on it. */
const VOICE_DBFS_MIN = -50;
/** Louder than this is always speech, however long it lasts. */
const VOICE_DBFS_MAX = -26;
/** Speech stands at least so far over the noise. */
const MARGIN_DB = 8;
/** Once somebody speaks, the soft ends of words count too. */
const HYSTERESIS_DB = 3;

/**
 * The noise floor is the quietest 60 ms of the last three seconds: even fast speech has such gaps between its
 * syllables, while a fan has none.
 */
const BLOCK_FRAMES = 3;
const BLOCKS = 3000 / (BLOCK_FRAMES * FRAME_MS);

/** Takes 20 ms frames in order. One instance a call. */
export class EnergyDetector {
  /** Of the newest blocks, the oldest written over; those that are still to come are as loud as can be. */
  readonly #blockMeansDbfs = new Float64Array(BLOCKS).fill(0);
  /** The least of them. */
  #quietestDbfs = 0;
  #block = 0;
  #blockSumDbfs = 0;
  #blockFrames = 0;
  /** Until something is known of the line, only what is loud on any line is speech. */
  #floorDbfs = VOICE_DBFS_MAX;
  #voicedRun = 0;
  #quietRun = 0;
  #firstVoicedAtMs = 0;
  #lastVoicedAtMs = 0;
  #isVoice = false;
  #levelDbfs = SILENCE_DBFS;

  /** Whether the caller is speaking now. */
  get isVoice(): boolean {
    return this.#isVoice;
  }

  /** How loud the last frame was. */
  get levelDbfs(): number {
    return this.#levelDbfs;
  }

  /**
   * Hears a frame.
   *
   * @param pcm 160 samples at 8 kHz.
   * @param atMs when it arrived.
   */
  hear(pcm: Int16Array, atMs: number): VoiceChange | undefined {
    const frameDbfs = levelDbfs(pcm);
    this.#levelDbfs = frameDbfs;
    const isVoiced = frameDbfs >= this.#thresholdDbfs;
    this.#learnNoise(frameDbfs);
    return isVoiced ? this.#hearVoiced(atMs) : this.#hearQuiet();
  }

  get #thresholdDbfs(): number {
    const overNoise = Math.max(VOICE_DBFS_MIN, this.#floorDbfs + MARGIN_DB);
    return Math.min(VOICE_DBFS_MAX, overNoise) - (this.#isVoice ? HYSTERESIS_DB : 0);
  }

  #hearVoiced(atMs: number): VoiceChange | undefined {
    this.#quietRun = 0;
    this.#voicedRun += 1;
    this.#lastVoicedAtMs = atMs;
    if (this.#voicedRun === 1) this.#firstVoicedAtMs = atMs;
    if (this.#isVoice || this.#voicedRun < VOICE_FRAMES) return undefined;
    this.#isVoice = true;
    return { kind: 'voice-started', atMs: this.#firstVoicedAtMs };
  }

  #hearQuiet(): VoiceChange | undefined {
    this.#voicedRun = 0;
    this.#quietRun += 1;
    if (!this.#isVoice || this.#quietRun < QUIET_FRAMES) return undefined;
    this.#isVoice = false;
    return { kind: 'voice-stopped', lastVoicedAtMs: this.#lastVoicedAtMs };
  }

  #learnNoise(frameDbfs: number): void {
    this.#blockSumDbfs += frameDbfs;
    this.#blockFrames += 1;
    if (this.#blockFrames < BLOCK_FRAMES) return;
    this.#learnBlock(this.#blockSumDbfs / BLOCK_FRAMES);
    this.#blockSumDbfs = 0;
    this.#blockFrames = 0;
  }

  #learnBlock(meanDbfs: number): void {
    const oldest = this.#blockMeansDbfs[this.#block] ?? 0;
    this.#blockMeansDbfs[this.#block] = meanDbfs;
    this.#block = (this.#block + 1) % BLOCKS;
    if (meanDbfs <= this.#quietestDbfs) this.#quietestDbfs = meanDbfs;
    else if (oldest <= this.#quietestDbfs) this.#quietestDbfs = leastOf(this.#blockMeansDbfs);
    this.#floorDbfs = this.#quietestDbfs;
  }
}

function leastOf(values: Float64Array): number {
  let least = 0;
  // By index: an iterator makes an object of each number.
  for (let index = 0; index < values.length; index += 1)
    least = Math.min(least, values[index] ?? 0);
  return least;
}
