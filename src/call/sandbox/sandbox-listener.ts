/** Speech of a simulated call: a recogniser that reads the script, and a voice from the phrase cache. */
import type { Clock, ScaledClock } from '../../lib/clock.ts';
import type { SpeechListener, Utterance } from '../../speech/hearing/hearing.ts';
import {
  type SpeechRequest,
  type Synthesizer,
  speakingBy,
} from '../../speech/tts/pool/synthesizer.ts';

/** Script of the simulated party, as the recogniser reads it. */
export interface PartyVoice {
  /** The words said in a span of time, `Clock.nowMs()`; of an unfinished sentence, the words so far. */
  wordsBetween(fromMs: number, untilMs: number): string;
}

/** Confidence of recognition on a clear line. */
const CONFIDENCE = 0.95;

/**
 * Runs no model: simulated calls run ten times faster than real ones, and a model would be their slowest part. Voice activity
 * comes from the line itself.
 */
export class SandboxListener implements SpeechListener {
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

/** A voice that keeps phrases. */
interface KeepingVoice extends Synthesizer {
  /** Speaks a phrase ahead of time; once is enough. @throws {SynthesisError} */
  prepare(request: SpeechRequest): Promise<void>;
}

/**
 * Speaks from a cache, since the sandbox's agents always say the same. While the engine works, the call's clock is slow:
 * a reply comes as soon after the caller's words as it would in a real call.
 */
export function sandboxVoice(voice: KeepingVoice, clock: ScaledClock): Synthesizer {
  return speakingBy(voice, async function* (request) {
    const { signal, ...phrase } = request;
    const speedUp = clock.slowDown();
    try {
      // Without the signal: other calls may wait for the same sentence.
      await voice.prepare(phrase);
    } finally {
      speedUp();
    }
    signal?.throwIfAborted();
    yield* voice.speak(request);
  });
}
