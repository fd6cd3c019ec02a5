/** Voice activity detection (VAD) gate: threshold, hysteresis and hangover; and the voiced span of an utterance by level alone; pure */

import { FRAME_MS, FRAME_SAMPLES } from '../../media/audio-stream.ts';
import type { VoiceEvent } from '../hearing/hearing.ts';

/** VAD threshold: a window with at least this probability of speech counts as voiced. */
export const VAD_THRESHOLD = 0.5;

/** VAD threshold of a voice under way: a window below it counts as silence. Silero's own hysteresis is 0.15. */
const VAD_STOP_THRESHOLD = 0.35;

/** Minimum speech duration: a shorter sound is a click or a knock. */
const SPEECH_MS_MIN = 64;

/** Hangover: silence before a voice counts as stopped. Longer waits are the conversation's endpointing. */
const HANGOVER_MS = 64;

/** The VAD gate of one call. Keeps state: use one instance a call. */
export class VadGate {
  #isOpen = false;
  /** Duration of the newest windows that contradict the present state. */
  #againstMs = 0;
  #firstVoicedAtMs = 0;
  #lastVoicedAtMs = 0;

  /** Whether a voice is under way. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Takes the next window's score.
   *
   * @param probability chance of speech in it, from 0 to 1.
   * @param window its start and end, by the media clock; windows follow each other without a gap.
   */
  push(
    probability: number,
    window: { readonly startAtMs: number; readonly endAtMs: number },
  ): VoiceEvent | null {
    const windowMs = window.endAtMs - window.startAtMs;
    return this.#isOpen
      ? this.#pushOpen(probability, window.endAtMs, windowMs)
      : this.#pushClosed(probability, window.startAtMs, windowMs);
  }

  /** Ends a voice at once, when no more audio follows. */
  close(): VoiceEvent | null {
    this.#againstMs = 0;
    if (!this.#isOpen) return null;
    this.#isOpen = false;
    return { kind: 'voice-stopped', lastVoicedAtMs: this.#lastVoicedAtMs };
  }

  #pushClosed(probability: number, startAtMs: number, windowMs: number): VoiceEvent | null {
    if (probability < VAD_THRESHOLD) {
      this.#againstMs = 0;
      return null;
    }
    if (this.#againstMs === 0) this.#firstVoicedAtMs = startAtMs;
    this.#againstMs += windowMs;
    if (this.#againstMs < SPEECH_MS_MIN) return null;

    this.#isOpen = true;
    this.#againstMs = 0;
    this.#lastVoicedAtMs = startAtMs + windowMs;
    return { kind: 'voice-started', atMs: this.#firstVoicedAtMs };
  }

  #pushOpen(probability: number, endAtMs: number, windowMs: number): VoiceEvent | null {
    if (probability >= VAD_STOP_THRESHOLD) {
      this.#againstMs = 0;
      this.#lastVoicedAtMs = endAtMs;
      return null;
    }
    this.#againstMs += windowMs;
    if (this.#againstMs < HANGOVER_MS) return null;
    return this.close();
  }
}

/** A frame this much weaker than the loudest is a pause: 20 dB in power. */
const PAUSE_POWER_RATIO = 0.01;

/** Energy-based start and end of speech; takes 8 kHz, mono, signed 16-bit audio. */
export class VoicedSpan {
  readonly #powers: number[] = [];
  #sum = 0;
  #samples = 0;

  push(pcm: Int16Array): void {
    for (const sample of pcm) {
      this.#sum += sample * sample;
      this.#samples += 1;
      if (this.#samples < FRAME_SAMPLES) continue;
      this.#powers.push(this.#sum);
      [this.#sum, this.#samples] = [0, 0];
    }
  }

  /** From the first loud frame to the end of the last, in milliseconds; the whole length without a loud frame. */
  get span(): { readonly startMs: number; readonly endMs: number } {
    const loudest = this.#powers.reduce((most, power) => Math.max(most, power), 0);
    const isLoud = (power: number) => power > loudest * PAUSE_POWER_RATIO;
    const first = Math.max(0, this.#powers.findIndex(isLoud));
    const last = this.#powers.findLastIndex(isLoud);
    const end = last < 0 ? this.#powers.length : last + 1;
    return { startMs: first * FRAME_MS, endMs: end * FRAME_MS };
  }
}
