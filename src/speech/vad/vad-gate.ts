/** Turns a detector's probabilities into voice started and stopped, with hysteresis; pure */
import type { VoiceEvent } from '../hearing/hearing.ts';

/** From here on a window counts as voiced. */
const START_PROBABILITY = 0.5;

/** Below this a window counts as quiet; between the two it goes on as it was. Silero's own margin is 0.15. */
const STOP_PROBABILITY = 0.35;

/** A shorter sound is a click or a knock. */
const START_MS = 64;

/** Waiting longer is endpointing, which is the conversation's business. */
const STOP_MS = 64;

/** One call's gate. */
export class VadGate {
  #isOpen = false;
  /** How long the windows have spoken against the present state. */
  #againstMs = 0;
  #firstVoicedAtMs = 0;
  #lastVoicedAtMs = 0;

  /**
   * Weighs the next window.
   *
   * @param probability chance of speech in it, from 0 to 1.
   * @param window when it was heard; windows follow each other without a gap.
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

  /** Says that nothing follows for now. */
  close(): VoiceEvent | null {
    this.#againstMs = 0;
    if (!this.#isOpen) return null;
    this.#isOpen = false;
    return { kind: 'voice-stopped', lastVoicedAtMs: this.#lastVoicedAtMs };
  }

  #pushClosed(probability: number, startAtMs: number, windowMs: number): VoiceEvent | null {
    if (probability < START_PROBABILITY) {
      this.#againstMs = 0;
      return null;
    }
    if (this.#againstMs === 0) this.#firstVoicedAtMs = startAtMs;
    this.#againstMs += windowMs;
    if (this.#againstMs < START_MS) return null;

    this.#isOpen = true;
    this.#againstMs = 0;
    this.#lastVoicedAtMs = startAtMs + windowMs;
    return { kind: 'voice-started', atMs: this.#firstVoicedAtMs };
  }

  #pushOpen(probability: number, endAtMs: number, windowMs: number): VoiceEvent | null {
    if (probability >= STOP_PROBABILITY) {
      this.#againstMs = 0;
      this.#lastVoicedAtMs = endAtMs;
      return null;
    }
    this.#againstMs += windowMs;
    if (this.#againstMs < STOP_MS) return null;
    return this.close();
  }
}
