/** One call's voice: cuts its audio into windows for the detector, and keeps what came of them. */
import { LINE_RATE_HZ } from '../../media/audio-stream.ts';
import type { VoiceEvent } from '../hearing/hearing.ts';
import { PendingSamples } from '../hearing/pending-samples.ts';
import type { VoiceShare } from '../stt/decoding/hallucination-gate.ts';
import { Upsampler } from '../stt/features/resampler.ts';
import type { DetectorStream, Vad } from './vad.ts';
import { VadGate } from './vad-gate.ts';
import { VadLoudness } from './vad-loudness.ts';

/** 32 ms at 8 kHz: one window, whatever rate the detector hears. */
const WINDOW_SAMPLES = 256;

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Voiced windows are counted from this probability on. */
const VOICED_PROBABILITY = 0.5;

/** Scores of at least the newest 30 s are kept, as long as an utterance is. */
const SCORES_MAX = 1000;

/** Where in the call's audio a piece lies: `position` is a `ReceiveRing`'s. */
export interface PositionInstant {
  readonly position: number;
  readonly atMs: number;
}

export class VadTrack {
  readonly #detector: Vad;
  readonly #stream: DetectorStream;
  readonly #upsampler = new Upsampler();
  readonly #gate = new VadGate();
  readonly #loudness = new VadLoudness();
  readonly #pending = new PendingSamples();
  /** Position of the first pending sample. */
  #position = 0;
  /** The window that was taken out last, as the detector hears it. */
  readonly #window = new Float32Array(WINDOW_SAMPLES);
  readonly #scores: { readonly end: number; readonly isVoiced: boolean }[] = [];

  constructor(detector: Vad) {
    this.#detector = detector;
    this.#stream = detector.open();
  }

  /** Starts anew at `position`, where what came before is lost. */
  skipTo(position: number): void {
    this.#stream.reset();
    this.#pending.clear();
    this.#position = position;
  }

  /** Adds 8 kHz audio that follows what was added before. */
  push(pcm: Int16Array): void {
    this.#pending.push(pcm);
  }

  /** Takes the next whole window out, for the detector; null when it is not complete yet. Good until the next one. */
  takeWindow(): { readonly stream: DetectorStream; readonly pcm: Float32Array } | null {
    const window = this.#pending.take(WINDOW_SAMPLES);
    if (window === null) return null;
    this.#position += WINDOW_SAMPLES;
    this.#loudness.hear(window);
    return { stream: this.#stream, pcm: this.#atDetectorRate(window) };
  }

  /**
   * Takes the score of the window that was taken out last.
   *
   * @param newest a position and its instant, by which the window's own is told.
   */
  score(probability: number, newest: PositionInstant): VoiceEvent | null {
    const end = this.#position;
    const isVoiced = probability >= VOICED_PROBABILITY;
    this.#loudness.weigh(isVoiced);
    this.#scores.push({ end, isVoiced });
    if (this.#scores.length > 2 * SCORES_MAX) this.#scores.splice(0, SCORES_MAX);
    const endAtMs = newest.atMs - (newest.position - end) / SAMPLES_PER_MS;
    const startAtMs = endAtMs - WINDOW_SAMPLES / SAMPLES_PER_MS;
    return this.#loudness.tell(this.#gate.push(probability, { startAtMs, endAtMs }));
  }

  /** Says that no more audio comes for now; a voice that was heard has stopped. */
  fallSilent(): VoiceEvent | null {
    return this.#loudness.tell(this.#gate.close());
  }

  /** How much of the audio from `position` on was scored, and how much of that was voice. */
  shareFrom(position: number): VoiceShare {
    const windowMs = WINDOW_SAMPLES / SAMPLES_PER_MS;
    const scores = this.#scores.filter(({ end }) => end > position);
    return {
      scoredMs: scores.length * windowMs,
      voicedMs: scores.filter(({ isVoiced }) => isVoiced).length * windowMs,
    };
  }

  #atDetectorRate(window: Int16Array): Float32Array {
    if (this.#detector.rateHz === 16_000) return this.#upsampler.push(window);
    for (let index = 0; index < WINDOW_SAMPLES; index += 1) {
      this.#window[index] = (window[index] as number) / 32768;
    }
    return this.#window;
  }
}
