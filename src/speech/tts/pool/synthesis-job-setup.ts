/** What a child that speaks with a neural voice is started with, and told. */
import type { SpokenSentence } from './speaking-messages.ts';

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
  /** Each says a word to nobody before the child is ready; those that cannot are reported and never used. */
  readonly voices: readonly NeuralVoice[];
  readonly threads: number;
}
