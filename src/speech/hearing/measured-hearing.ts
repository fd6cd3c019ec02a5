/** Measures recognition times: a `Hearing` around another one. */

import type { ModelTimes, SpeechServerCounts } from '../../lib/metrics/model-metrics.ts';
import type { EngineReport, Hearing, SpeechListener, Utterance, VoiceEvent } from './hearing.ts';

type Transcription = Parameters<SpeechListener['transcribe']>[0];

/**
 * Reports the time of each final and speculative recognition. Interim results run when a recogniser is idle, so their
 * times say nothing about the load.
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

  open(options: Parameters<Hearing['open']>[0]): SpeechListener {
    const engine = this.reports().find(({ job }) => job === 'stt')?.engine ?? 'none';
    return new MeasuredListener(this.#hearing.open(options), this.#times, engine);
  }

  reports(): readonly EngineReport[] {
    return this.#hearing.reports();
  }

  watchServers(counts: SpeechServerCounts): void {
    this.#hearing.watchServers?.(counts);
  }
}

class MeasuredListener implements SpeechListener {
  readonly #listener: SpeechListener;
  readonly #times: ModelTimes;
  readonly #engine: string;

  constructor(listener: SpeechListener, times: ModelTimes, engine: string) {
    this.#listener = listener;
    this.#times = times;
    this.#engine = engine;
  }

  onVoice(listener: (event: VoiceEvent) => void): void {
    this.#listener.onVoice(listener);
  }

  beginUtterance(fromMs: number): void {
    this.#listener.beginUtterance(fromMs);
  }

  async transcribe(request: Transcription): Promise<Utterance> {
    try {
      const utterance = await this.#listener.transcribe(request);
      if (request.priority !== 'partial') {
        this.#times.answered('stt', this.#engine, utterance.tookMs);
      }
      return utterance;
    } catch (error) {
      // A partial request gives way to more urgent ones; that is no failure.
      const isWanted = request.signal?.aborted !== true && request.priority !== 'partial';
      if (isWanted) this.#times.failed('stt', this.#engine);
      throw error;
    }
  }

  endUtterance(): void {
    this.#listener.endUtterance();
  }

  close(): void {
    this.#listener.close();
  }
}
