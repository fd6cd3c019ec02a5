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

/** One text for one voice. Each engine's own says more of the voice. */
export interface SpokenSentence {
  /** Already cleaned by `spokenText`; never empty. */
  readonly text: string;
  readonly voice: { readonly name: string };
  /** Silence to leave at the end. */
  readonly pauseAfterMs: number;
}

/** From the server to the child. */
export type SpeakingRequest<Sentence extends SpokenSentence> =
  | { readonly kind: 'speak'; readonly id: number; readonly sentence: Sentence }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Gets ready for the voice. */
  | { readonly kind: 'warm'; readonly voice: Sentence['voice'] }
  /** Ends the child. */
  | { readonly kind: 'stop' };

/** A model that cannot be used, and why. */
export interface ModelFailure {
  readonly model: string;
  readonly reason: string;
}

/** From the child to the server. */
export type SpeakingReply =
  /** `failures`: what of the models cannot be used, and why. */
  | { readonly kind: 'ready'; readonly failures?: readonly ModelFailure[] }
  /** The engine cannot speak at all; the child ends. */
  | { readonly kind: 'unready'; readonly reason: string }
  /** PCM: 8 kHz, mono, signed 16-bit. */
  | { readonly kind: 'audio'; readonly id: number; readonly pcm: Int16Array }
  /** When the words of the sentence end, as shares of its audio. */
  | { readonly kind: 'words'; readonly id: number; readonly ends: readonly number[] }
  | { readonly kind: 'ended'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

/** A voice as the child knows it. */
export interface NeuralVoice {
  /** For messages. */
  readonly name: string;
  /** Path of the model, for its module. */
  readonly model: string;
  /** Which of the model's voices; empty where it has one. */
  readonly speaker: string;
  /** espeak-ng's name of the language that the words are read in. */
  readonly reads: string;
  /** BCP 47. */
  readonly locale: string;
  readonly gender?: 'female' | 'male';
}

export interface NeuralSentence extends SpokenSentence {
  readonly voice: NeuralVoice;
}

/** Becomes the child's argument, as JSON. */
export interface SynthesisJobSetup {
  /** URL of the module that opens models. */
  readonly modelModule: string;
  /** URL of the module that makes a phonemizer, and what it is to be told. */
  readonly phonemizerModule: string;
  readonly phonemizer: object;
  /** Each voice speaks a test word before the child is ready; voices that fail are reported and never used. */
  readonly voices: readonly NeuralVoice[];
  readonly threads: number;
}
