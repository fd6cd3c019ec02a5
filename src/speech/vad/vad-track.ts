/** Voice activity detection (VAD) of one call: the detector's port, windows of audio, gated scores, and the voice's level. */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { dbfsOf, meanPower } from '../../media/dsp/level-meter.ts';
import type { VoiceEvent } from '../hearing/hearing.ts';
import type { VoiceShare } from '../stt/decoding/hallucination-gate.ts';
import { Upsampler } from '../stt/features/resampler.ts';
import { BackgroundTalk, TALK_WINDOWS } from './background-talk.ts';
import { DistantVoices } from './distant-voices.ts';
import { VAD_THRESHOLD, VadGate } from './vad-gate.ts';

/** One window: 32 ms of 8 kHz audio, at either rate of the detector. */
const WINDOW_SAMPLES = 256;

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Scores of at least the newest 30 s are kept, as long as an utterance is. */
const SCORES_MAX = 1000;

/** A position in a `ReceiveRing`, and its instant. */
interface PositionInstant {
  readonly position: number;
  readonly atMs: number;
}

interface WindowScore {
  /** Position after the window. */
  readonly end: number;
  probability: number;
  /** Mean of its squared samples. */
  readonly power: number;
}

/** Keeps state: use one instance a call. */
export class VadTrack {
  readonly #detector: Vad;
  readonly #stream: DetectorStream;
  readonly #upsampler = new Upsampler();
  readonly #gate = new VadGate();
  readonly #loudness = new VadLoudness();
  readonly #background = new BackgroundTalk();
  readonly #distant = new DistantVoices();
  readonly #pending = new PendingSamples();
  /** Position of the first pending sample. */
  #position = 0;
  /** The newest window, at 8 kHz and at the detector's rate. */
  readonly #linePcm = new Int16Array(WINDOW_SAMPLES);
  readonly #window = new Float32Array(WINDOW_SAMPLES);
  readonly #scores: WindowScore[] = [];

  constructor(detector: Vad) {
    this.#detector = detector;
    this.#stream = detector.open();
  }

  /** Continues at `position` after a gap: the detector's state is reset. */
  skipTo(position: number): void {
    this.#stream.reset();
    this.#pending.clear();
    this.#position = position;
  }

  /** Adds the next 8 kHz audio. */
  push(pcm: Int16Array): void {
    this.#pending.push(pcm);
  }

  /** Takes the next whole window for the detector; null when it is not complete yet. Valid until the next call. */
  takeWindow(): { readonly stream: DetectorStream; readonly pcm: Float32Array } | null {
    const window = this.#pending.take(WINDOW_SAMPLES);
    if (window === null) return null;
    this.#position += WINDOW_SAMPLES;
    this.#linePcm.set(window);
    this.#loudness.hear(window);
    return { stream: this.#stream, pcm: this.#atDetectorRate(window) };
  }

  /**
   * Takes the score of the newest window.
   *
   * @param newest a position and its instant, from which the window's own instant is derived.
   * @param echoEnd position up to which the agent's voice may be in the audio.
   */
  score(probability: number, newest: PositionInstant, echoEnd = 0): VoiceEvent | null {
    const end = this.#position;
    const isCovered = this.#covers(this.#loudness.newest, this.#gate.isOpen);
    const isVoiced = probability >= VAD_THRESHOLD;
    this.#loudness.weigh(isVoiced && !isCovered);
    this.#scores.push({ end, probability, power: this.#loudness.newest });
    if (this.#scores.length > 2 * SCORES_MAX) this.#scores.splice(0, SCORES_MAX);
    // The echo of the agent's voice is neither the caller nor talk around them.
    const mayBeEcho = end - WINDOW_SAMPLES < echoEnd;
    if (mayBeEcho) this.#background.skip();
    else
      this.#distant.hear({
        power: this.#loudness.newest,
        isVoiced,
        isVoiceOpen: this.#gate.isOpen,
      });
    const isFound =
      !mayBeEcho && this.#background.hear(this.#linePcm, this.#loudness.newest, isVoiced);
    const endAtMs = newest.atMs - (newest.position - end) / SAMPLES_PER_MS;
    if (isFound) return this.#takeBack(endAtMs);
    const startAtMs = endAtMs - WINDOW_SAMPLES / SAMPLES_PER_MS;
    return this.#loudness.tell(
      this.#gate.push(isCovered ? 0 : probability, { startAtMs, endAtMs }),
    );
  }

  /** Ends a voice when no more audio comes. */
  fallSilent(): VoiceEvent | null {
    return this.#loudness.tell(this.#gate.close());
  }

  /** Duration of scored audio from `position` on, of the surest voice in it, and of all voice; talk in the background is none, also where it was found out later. */
  shareFrom(position: number): VoiceShare {
    const windowMs = WINDOW_SAMPLES / SAMPLES_PER_MS;
    const scores = this.#scores.filter(({ end }) => end > position);
    const certainties = scores.map((score) => this.#certainty(score));
    return {
      scoredMs: scores.length * windowMs,
      voicedMs: surestRun(certainties) * windowMs,
      clearMs: certainties.reduce((sum, each) => sum + each, 0) * windowMs,
    };
  }

  /** The windows in which talk was found turn out to hold no voice of the caller's. */
  #takeBack(endAtMs: number): VoiceEvent {
    for (const score of this.#scores.slice(-TALK_WINDOWS)) score.probability = 0;
    this.#loudness.tell(this.#gate.close());
    const talkMs = (TALK_WINDOWS * WINDOW_SAMPLES) / SAMPLES_PER_MS;
    return { kind: 'background-talk', sinceMs: endAtMs - talkMs };
  }

  #certainty({ probability, power }: WindowScore): number {
    return this.#covers(power, false) ? 0 : certainty(probability);
  }

  /** Whether a window is too quiet to be the caller's voice. */
  #covers(power: number, isVoiceOpen: boolean): boolean {
    return this.#background.covers(power, isVoiceOpen) || this.#distant.covers(power, isVoiceOpen);
  }

  #atDetectorRate(window: Int16Array): Float32Array {
    if (this.#detector.rateHz === 16_000) return this.#upsampler.push(window);
    for (let index = 0; index < WINDOW_SAMPLES; index += 1) {
      this.#window[index] = (window[index] as number) / 32768;
    }
    return this.#window;
  }
}

/** From 0 at the threshold to 1. */
function certainty(probability: number): number {
  return Math.max(0, probability - VAD_THRESHOLD) / (1 - VAD_THRESHOLD);
}

/** The highest sum of a run without a zero. */
function surestRun(certainties: readonly number[]): number {
  let run = 0;
  let surest = 0;
  for (const each of certainties) {
    run = each === 0 ? 0 : run + each;
    surest = Math.max(surest, run);
  }
  return surest;
}

/** Mean level of one call's voice. For each window, call `hear`, then `weigh`, then `tell`. */
class VadLoudness {
  #newest = 0;
  #sum = 0;
  #windows = 0;
  #isVoice = false;

  /** Mean square of the newest window. */
  get newest(): number {
    return this.#newest;
  }

  hear(window: Int16Array): void {
    this.#newest = meanPower(window);
  }

  /** Counts the newest window if it is voiced; discards windows of a voice that did not start. */
  weigh(isVoiced: boolean): void {
    if (isVoiced) {
      this.#sum += this.#newest;
      this.#windows += 1;
    } else if (!this.#isVoice) {
      this.#forget();
    }
  }

  /** Puts the level to a voice that has stopped. */
  tell(event: VoiceEvent | null): VoiceEvent | null {
    if (event?.kind === 'voice-started') this.#isVoice = true;
    if (event?.kind !== 'voice-stopped') return event;
    const mean = this.#sum / this.#windows;
    this.#isVoice = false;
    this.#forget();
    if (!(mean > 0)) return event;
    return { ...event, levelDbfs: Math.round(dbfsOf(mean) * 10) / 10 };
  }

  #forget(): void {
    this.#sum = 0;
    this.#windows = 0;
  }
}

/** Two windows: the rest of one tick, and the audio until the next. */
const SAMPLES_FIRST = 512;

/** Audio that waits to be cut into windows, in memory that is used again. */
export class PendingSamples {
  #samples = new Int16Array(SAMPLES_FIRST);
  #start = 0;
  #end = 0;

  /** Adds a copy at the end. */
  push(pcm: Int16Array): void {
    if (this.#end + pcm.length > this.#samples.length) this.#makeRoom(pcm.length);
    this.#samples.set(pcm, this.#end);
    this.#end += pcm.length;
  }

  /** Takes the oldest samples out; null when there are fewer. Valid until the next `push`. */
  take(count: number): Int16Array | null {
    if (this.#end - this.#start < count) return null;
    const window = this.#samples.subarray(this.#start, this.#start + count);
    this.#start += count;
    return window;
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** Moves waiting samples to the front, or to a larger array when they do not fit. */
  #makeRoom(count: number): void {
    const waiting = this.#samples.subarray(this.#start, this.#end);
    if (waiting.length + count > this.#samples.length) {
      this.#samples = new Int16Array(2 * (waiting.length + count));
      this.#samples.set(waiting);
    } else {
      this.#samples.copyWithin(0, this.#start, this.#end);
    }
    this.#end = waiting.length;
    this.#start = 0;
  }
}

/** One call's state in the model. */
export interface DetectorStream {
  /** Clears the state. */
  reset(): void;
}

/** A voice activity detection model in memory. */
export interface Vad {
  /** Sample rate that `score` takes: 8000 or 16000. */
  readonly rateHz: 8000 | 16_000;

  /** Samples in one window, 32 ms. */
  readonly windowSamples: number;

  /** A limitation and its remedy, such as a model that is not prepared. */
  readonly drawback?: string;

  /** Opens one call's state. */
  open(): DetectorStream;

  /**
   * Scores one window of each call given, in one run.
   *
   * @param windows mono, -1..1, `windowSamples` each, a call occurs once.
   * @returns chance of speech for each, from 0 to 1, in the same order.
   * @throws {RangeError} when a window has another length.
   */
  score(
    windows: readonly { readonly stream: DetectorStream; readonly pcm: Float32Array }[],
  ): Promise<readonly number[]>;

  /** Releases the model. Call it when no `score` is under way. */
  close(): Promise<void>;
}

/** Exports of the module of a VAD engine. */
export interface VadModule {
  /** @throws {Error} naming the file, the cause and the remedy. */
  openVoiceDetector(modelPath: string): Promise<Vad>;
}
