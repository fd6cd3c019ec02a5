/**
 * Stub speech recognition that also runs the server's voice detector.
 *
 * The detector's thread scores every window of every call as in a server. The scores are not used: random weights
 * detect no voice, and Silero's weights reject the callers' tone. Turns are decided by the stub alone.
 */
import type { Clock } from '../../src/lib/clock.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { chooseHearing } from '../../src/speech/hearing/choose-hearing.ts';
import type { EngineReport, Hearing, SpeechListener } from '../../src/speech/hearing/hearing.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { sileroEngine } from '../../src/speech/vad/silero/silero-engine.ts';

export class StubWithDetector implements Hearing {
  readonly hasVoiceDetector = false;
  readonly turnTrust = 0;
  readonly #stub: Hearing;
  readonly #detector: Hearing;

  constructor(options: {
    readonly hearing: Hearing;
    /** Folder of the detector's model, laid out as the server's models folder. */
    readonly modelsDir: string;
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    const { hearing, modelsDir, clock, logger } = options;
    this.#stub = hearing;
    const engines = { silero: sileroEngine, recognizers: [whisperEngine] } as const;
    const parts = { modelsDir, clock, logger, engines };
    this.#detector = chooseHearing({ vad: 'silero', stt: 'none', ...parts });
  }

  async start(): Promise<void> {
    await Promise.all([this.#stub.start(), this.#detector.start()]);
    for (const { engine, reason } of this.#detector.reports())
      console.error(`${engine}: ${reason}`);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#stub.stop(), this.#detector.stop()]);
  }

  open(options: Parameters<Hearing['open']>[0]): SpeechListener {
    const [listener, detector] = [this.#stub.open(options), this.#detector.open(options)];
    const close = () => {
      detector.close();
      listener.close();
    };
    return { ...listener, close };
  }

  reports(): readonly EngineReport[] {
    return this.#stub.reports();
  }
}
