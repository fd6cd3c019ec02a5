/** Tells when the far end speaks and when it has fallen silent, from the packets that a telephone hears. */
import { systemClock } from '../../src/lib/clock.ts';
import type { PhoneLine } from '../phone/phone-line.ts';

const POLL_MS = 10;

export class Listener {
  /** When the last packet with a voice in it came; 0 before the first. */
  #lastVoicedAtMs = 0;
  readonly #voicedAtMs: number[] = [];

  constructor(line: PhoneLine) {
    line.onPacket(({ atMs, isVoiced }) => {
      if (!isVoiced) return;
      this.#lastVoicedAtMs = atMs;
      this.#voicedAtMs.push(atMs);
    });
  }

  get lastVoicedAtMs(): number {
    return this.#lastVoicedAtMs;
  }

  /** When a voice was first heard after an instant; undefined when there was none yet. */
  firstVoicedAfter(instantMs: number): number | undefined {
    return this.#voicedAtMs.find((atMs) => atMs > instantMs);
  }

  /** Resolves once a voice has been heard after `sinceMs`, and then silence for `quietMs`. */
  hasSpoken(sinceMs: number, quietMs: number, timeoutMs: number): Promise<boolean> {
    return this.#until(
      () => this.#lastVoicedAtMs > sinceMs && systemClock.nowMs() - this.#lastVoicedAtMs > quietMs,
      timeoutMs,
    );
  }

  /** Resolves once a voice has been heard for `forMs` since `sinceMs`. */
  isSpeaking(sinceMs: number, forMs: number, timeoutMs: number): Promise<boolean> {
    return this.#until(() => {
      const beganAtMs = this.firstVoicedAfter(sinceMs);
      return beganAtMs !== undefined && this.#lastVoicedAtMs - beganAtMs >= forMs;
    }, timeoutMs);
  }

  /** @returns false when the time was over first. */
  async #until(isTrue: () => boolean, timeoutMs: number): Promise<boolean> {
    const deadlineMs = systemClock.nowMs() + timeoutMs;
    while (!isTrue()) {
      if (systemClock.nowMs() > deadlineMs) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return true;
  }
}
