/** Energy detector, the fast voice detector of barge-in: reports when a caller begins and stops speaking, by level over noise; pure */
import { FRAME_MS } from '../audio-stream.ts';
import { levelDbfs, SILENCE_DBFS } from './level-meter.ts';

/**
 * Voiced frames in a row that count as speech; a click or a cough's edge fills one or two. First stage of barge-in: playout
 * pauses here, in media time. Whether the caller takes the turn is decided by `bargeInMs` in
 * src/conversation/turn/turn-rules.ts.
 */
export const VOICE_FRAMES = 3;

/** Quiet frames in a row that end speech: 60 ms. */
export const QUIET_FRAMES = 3;

/** Begin or end of voice, with its place in the sound. */
export type VoiceChange =
  | { readonly kind: 'voice-started'; readonly atMs: number }
  | { readonly kind: 'voice-stopped'; readonly lastVoicedAtMs: number };

/** Speech is never quieter: the noise of an idle telephone line. */
const VOICE_DBFS_MIN = -50;
/** Anything louder is speech, however long it lasts. */
const VOICE_DBFS_MAX = -26;
/** Least level of speech over the noise floor. */
const MARGIN_DB = 8;
/** During speech the threshold is lower, so that soft ends of words count. */
const HYSTERESIS_DB = 3;

/**
 * The noise floor is the quietest 60 ms of the last three seconds: even fast speech has such gaps between its
 * syllables, while a fan has none.
 */
const BLOCK_FRAMES = 3;
const BLOCKS = 3000 / (BLOCK_FRAMES * FRAME_MS);

/** Takes 20 ms frames in order. One instance a call. */
export class EnergyDetector {
  /** Mean levels of the newest blocks, a ring; unused ones are as loud as possible. */
  readonly #blockMeansDbfs = new Float64Array(BLOCKS).fill(0);
  #block = 0;
  #blockSumDbfs = 0;
  #blockFrames = 0;
  /** Noise floor; before the first block only loud frames are speech. */
  #floorDbfs = VOICE_DBFS_MAX;
  #voicedRun = 0;
  #quietRun = 0;
  #firstVoicedAtMs = 0;
  #lastVoicedAtMs = 0;
  #isVoice = false;
  #voiceFrames = 0;
  #levelDbfs = SILENCE_DBFS;

  /** Whether the caller is speaking now. */
  get isVoice(): boolean {
    return this.#isVoice;
  }

  /** How long the voice under way has lasted, short gaps included; 0 without one. */
  get voiceMs(): number {
    return this.#voiceFrames * FRAME_MS;
  }

  /** How loud the last frame was. */
  get levelDbfs(): number {
    return this.#levelDbfs;
  }

  /**
   * Takes a frame.
   *
   * @param pcm 160 samples at 8 kHz.
   * @param atMs when it arrived.
   */
  hear(pcm: Int16Array, atMs: number): VoiceChange | undefined {
    const frameDbfs = levelDbfs(pcm);
    this.#levelDbfs = frameDbfs;
    const isVoiced = frameDbfs >= this.#thresholdDbfs;
    this.#learnNoise(frameDbfs);
    const change = isVoiced ? this.#hearVoiced(atMs) : this.#hearQuiet();
    if (change?.kind === 'voice-started') this.#voiceFrames = VOICE_FRAMES;
    else this.#voiceFrames = this.#isVoice ? this.#voiceFrames + 1 : 0;
    return change;
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
    this.#blockMeansDbfs[this.#block] = meanDbfs;
    this.#block = (this.#block + 1) % BLOCKS;
    let floorDbfs = meanDbfs;
    for (const blockDbfs of this.#blockMeansDbfs) {
      if (blockDbfs < floorDbfs) floorDbfs = blockDbfs;
    }
    this.#floorDbfs = floorDbfs;
  }
}
