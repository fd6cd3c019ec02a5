/** Hearing whose recognition is timed. */

import type { ModelTimes } from '../../lib/metrics/model-metrics.ts';
import type { Ear, EngineReport, Hearing, Utterance, VoiceEvent } from './hearing.ts';

type Transcription = Parameters<Ear['transcribe']>[0];

/**
 * Passes everything on to another hearing, and reports how long each text took that a caller waits for. A look at what
 * is still being said comes when the recogniser has time: neither its wait nor its shortness says how busy that is.
 */
export class MeasuredHearing implements Hearing {
  readonly #hearing: Hearing;
  readonly #times: ModelTimes;

  constructor(options: { readonly hearing: Hearing; readonly times: ModelTimes }) {
    this.#hearing = options.hearing;
    this.#times = options.times;
  }

  get hasVoiceDetector(): boolean {
    return this.#hearing.hasVoiceDetector;
  }

  get turnTrust(): number {
    return this.#hearing.turnTrust;
  }

  start(): Promise<void> {
    return this.#hearing.start();
  }

  stop(): Promise<void> {
    return this.#hearing.stop();
  }

  open(options: Parameters<Hearing['open']>[0]): Ear {
    const engine = this.reports().find(({ job }) => job === 'stt')?.engine ?? 'none';
    return new MeasuredEar(this.#hearing.open(options), this.#times, engine);
  }

  reports(): readonly EngineReport[] {
    return this.#hearing.reports();
  }
}

class MeasuredEar implements Ear {
  readonly #ear: Ear;
  readonly #times: ModelTimes;
  readonly #engine: string;

  constructor(ear: Ear, times: ModelTimes, engine: string) {
    this.#ear = ear;
    this.#times = times;
    this.#engine = engine;
  }

  onVoice(listener: (event: VoiceEvent) => void): void {
    this.#ear.onVoice(listener);
  }

  beginUtterance(fromMs: number): void {
    this.#ear.beginUtterance(fromMs);
  }

  async transcribe(request: Transcription): Promise<Utterance> {
    try {
      const utterance = await this.#ear.transcribe(request);
      if (request.priority !== 'partial') {
        this.#times.answered('stt', this.#engine, utterance.tookMs);
      }
      return utterance;
    } catch (error) {
      // A partial request gives way to whatever is more urgent; that is no failure.
      const isWanted = request.signal?.aborted !== true && request.priority !== 'partial';
      if (isWanted) this.#times.failed('stt', this.#engine);
      throw error;
    }
  }

  endUtterance(): void {
    this.#ear.endUtterance();
  }

  close(): void {
    this.#ear.close();
  }
}
