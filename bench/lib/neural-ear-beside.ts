/**
 * A hearing that is a stub, with the server's own voice detector beside it.
 *
 * The detector's thread scores every window of every call as it does in a server. What it says is not used: random
 * weights know no voice, and Silero's own take the callers' tone for none. Turns are decided as without it.
 */
import type { Clock } from '../../src/lib/clock.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { chooseHearing } from '../../src/speech/hearing/choose-hearing.ts';
import type { EngineReport, Hearing, SpeechListener } from '../../src/speech/hearing/hearing.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { sileroEngine } from '../../src/speech/vad/silero/silero-engine.ts';

export class NeuralEarBeside implements Hearing {
  readonly hasVoiceDetector = false;
  readonly turnTrust = 0;
  readonly #stub: Hearing;
  readonly #detector: Hearing;

  constructor(options: {
    readonly hearing: Hearing;
    /** Where the detector's model lies, as in the server's own folder of models. */
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
    const [ear, detector] = [this.#stub.open(options), this.#detector.open(options)];
    const close = () => {
      detector.close();
      ear.close();
    };
    return { ...ear, close };
  }

  reports(): readonly EngineReport[] {
    return this.#stub.reports();
  }
}
