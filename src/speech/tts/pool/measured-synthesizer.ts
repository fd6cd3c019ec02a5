/** A synthesizer whose first sounds are timed. */
import type { Clock } from '../../../lib/clock.ts';
import type { ModelTimes } from '../../../lib/metrics/model-metrics.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice } from './synthesizer.ts';

/** Passes everything on to another synthesizer, and reports how long its first chunk took. */
export class MeasuredSynthesizer implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  readonly #times: ModelTimes;
  readonly #clock: Clock;

  constructor(options: {
    readonly synthesizer: Synthesizer;
    readonly times: ModelTimes;
    readonly clock: Clock;
  }) {
    this.#synthesizer = options.synthesizer;
    this.#times = options.times;
    this.#clock = options.clock;
  }

  start(): Promise<void> {
    return this.#synthesizer.start();
  }

  stop(): Promise<void> {
    return this.#synthesizer.stop();
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { engine } = this.reportFor(request);
    const startMs = this.#clock.nowMs();
    let hasSpoken = false;
    try {
      for await (const chunk of this.#synthesizer.speak(request)) {
        if (!hasSpoken) this.#times.answered('tts', engine, this.#clock.nowMs() - startMs);
        hasSpoken = true;
        yield chunk;
      }
    } catch (error) {
      if (request.signal?.aborted !== true) this.#times.failed('tts', engine);
      throw error;
    }
  }

  report(): EngineReport {
    return this.#synthesizer.report();
  }

  reportFor(voice: VoiceChoice): EngineReport {
    return this.#synthesizer.reportFor?.(voice) ?? this.#synthesizer.report();
  }
}
