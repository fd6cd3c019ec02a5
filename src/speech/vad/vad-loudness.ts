/** How loud a caller's voice is, from when it starts until it stops; pure */

import { dbfsOf, meanPower } from '../../media/dsp/level-meter.ts';
import type { VoiceEvent } from '../hearing/hearing.ts';

/** One call's. Takes each window, then whether it was voice, then what came of it. */
export class VadLoudness {
  /** Of the window that was heard last: mean of its samples' squares. */
  #newest = 0;
  #sum = 0;
  #windows = 0;
  #isVoice = false;

  hear(window: Int16Array): void {
    this.#newest = meanPower(window);
  }

  /** Counts the window that was heard last, if it was voice. What was no start of a voice is forgotten. */
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
