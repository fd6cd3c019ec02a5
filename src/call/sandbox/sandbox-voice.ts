/** The agent's voice in a simulated call: every sentence is spoken once, in real time. */
import type { ScaledClock } from '../../lib/scaled-clock.ts';
import type { EngineReport } from '../../speech/hearing/hearing.ts';
import type { SpeechRequest, Synthesizer } from '../../speech/tts/pool/synthesizer.ts';

/** A voice that keeps phrases. */
export interface KeepingVoice extends Synthesizer {
  /** Speaks a phrase ahead of time; once is enough. @throws {SynthesisError} */
  prepare(request: SpeechRequest): Promise<void>;
}

/**
 * What the sandbox's agents say is always the same, so it is kept, and said again at once. While the engine works, the
 * call's clock is slow: a reply comes as soon after the caller's words as it would in a real call.
 */
export class SandboxVoice implements Synthesizer {
  readonly #voice: KeepingVoice;
  readonly #clock: ScaledClock;

  constructor(options: { readonly voice: KeepingVoice; readonly clock: ScaledClock }) {
    this.#voice = options.voice;
    this.#clock = options.clock;
  }

  start(): Promise<void> {
    return this.#voice.start();
  }

  stop(): Promise<void> {
    return this.#voice.stop();
  }

  report(): EngineReport {
    return this.#voice.report();
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { signal, ...phrase } = request;
    const speedUp = this.#clock.slowDown();
    try {
      // Without the signal: other calls may wait for the same sentence.
      await this.#voice.prepare(phrase);
    } finally {
      speedUp();
    }
    signal?.throwIfAborted();
    yield* this.#voice.speak(request);
  }
}
