/** The port through which a conversation speaks: text in, line-rate PCM out. */
import type { EngineReport } from './hearing.ts';

/** The voice could not speak: unknown voice, dead process, or the wait was over. */
export class SynthesisError extends Error {
  override readonly name = 'SynthesisError';
}

export interface SpeechRequest {
  readonly text: string;
  /** `<locale>-<Name>Neural`, as agents name it; each engine maps it to the nearest voice that it has. */
  readonly voice: string;
  /** BCP 47. */
  readonly language: string;
  readonly signal?: AbortSignal;
}

/** Turns text into speech. */
export interface Synthesizer {
  start(): Promise<void>;

  /** Stops its processes within 2 s. Safe to call twice. */
  stop(): Promise<void>;

  /**
   * Speaks; the first chunk comes as soon as there is one.
   *
   * @returns PCM chunks: 8 kHz, mono, signed 16-bit, any length; leaving the loop early stops the engine.
   * @throws {SynthesisError}
   */
  speak(request: SpeechRequest): AsyncIterable<Int16Array>;

  report(): EngineReport;
}
