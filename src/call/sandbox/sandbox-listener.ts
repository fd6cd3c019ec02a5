/** The ear of a simulated call: it is told what the scripted party says, instead of recognising it. */
import type { Clock } from '../../lib/clock.ts';
import type { Ear, Utterance } from '../../speech/hearing/hearing.ts';

/** The voice of a scripted party, as far as an ear needs it. */
export interface PartyVoice {
  /** The words said in a span of time, `Clock.nowMs()`; of a sentence that goes on, the words so far. */
  wordsBetween(fromMs: number, untilMs: number): string;
}

/** What a good recogniser says of a clear line. */
const CONFIDENCE = 0.95;

/**
 * No model runs: ten times as fast as life, one would be the slowest part of every call. Voice activity is told by the
 * line itself.
 */
export class SandboxListener implements Ear {
  readonly #voice: PartyVoice;
  readonly #clock: Clock;
  #fromMs = 0;

  constructor(options: { readonly voice: PartyVoice; readonly clock: Clock }) {
    this.#voice = options.voice;
    this.#clock = options.clock;
  }

  onVoice(): void {}

  beginUtterance(fromMs: number): void {
    this.#fromMs = fromMs;
  }

  transcribe(): Promise<Utterance> {
    const nowMs = this.#clock.nowMs();
    const text = this.#voice.wordsBetween(this.#fromMs, nowMs);
    return Promise.resolve({
      text,
      words: text.split(' ').map((word) => ({ text: word, confidence: CONFIDENCE })),
      confidence: CONFIDENCE,
      language: 'en',
      noSpeechProbability: 0,
      audioMs: nowMs - this.#fromMs,
      tookMs: 0,
    });
  }

  endUtterance(): void {}

  close(): void {}
}
