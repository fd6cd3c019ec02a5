/** The port through which a conversation speaks: text in, line-rate PCM out. */
import type { EngineReport } from '../../hearing/hearing.ts';

/** The voice could not speak: unknown voice, dead process, or the wait was over. */
export class SynthesisError extends Error {
  override readonly name = 'SynthesisError';
}

/** How a word is to be said that is written otherwise. */
export interface Pronunciation {
  readonly written: string;
  readonly spoken: string;
}

/**
 * For each word of a text, as blanks part it, the share of the text's audio after which the word has been said whole:
 * from 0 to 1, never less than for the word before.
 */
export type WordEnds = readonly number[];

export interface SpeechRequest {
  /** As it is written: numbers, dates and the like are the synthesizer's to read out. */
  readonly text: string;
  /** `<locale>-<Name>Neural`, as agents name it; each engine maps it to the nearest voice that it has. */
  readonly voice: string;
  /** BCP 47. */
  readonly language: string;
  /** None unless given. */
  readonly pronunciations?: readonly Pronunciation[];
  /** Told when the words end, as soon as that is known, and again where it is known better. */
  readonly onWords?: (ends: WordEnds) => void;
  readonly signal?: AbortSignal;
}

/** What decides who speaks. */
export type VoiceChoice = Pick<SpeechRequest, 'voice' | 'language'>;

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

  /** Whether it has the voice's language; every language where it does not say. */
  canSpeak?(choice: VoiceChoice): boolean;

  /** Who speaks this voice, where that depends on the voice. */
  reportFor?(choice: VoiceChoice): EngineReport;
}
