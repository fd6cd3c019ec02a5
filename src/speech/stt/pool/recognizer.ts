/** The port of a speech recogniser inside its own process: one model, many utterances. */
import type { RecognizedWord } from '../../hearing/hearing.ts';
import type { LoadOutcome } from '../../models/speech-engine.ts';

/** What the model made of one utterance, before anybody doubts it. */
export interface Recognition {
  readonly text: string;
  readonly words: readonly RecognizedWord[];
  /** exp of the mean token log-probability, from 0 to 1. */
  readonly confidence: number;
  /** ISO 639-1. */
  readonly language: string;
  /** From 0 to 1. */
  readonly noSpeechProbability: number;
  /** Leading words that the answer before this one had too: they are not going to change. */
  readonly agreedWords?: number;
  readonly audioMs: number;
}

/** One utterance that grows while it is spoken; its features are computed as it grows. */
export interface UtteranceStream {
  /** Adds audio: 8 kHz, mono, signed 16-bit. What comes after 30 s is left out. */
  push(pcm: Int16Array): void;

  /**
   * Recognises what was pushed before this call; more may follow, and it may be asked again.
   *
   * @param request `isFinal` lets the model try harder where a first attempt looks wrong.
   * @throws the signal's reason, at the next step of the model, when aborted.
   */
  transcribe(request: {
    readonly isFinal: boolean;
    readonly signal: AbortSignal;
  }): Promise<Recognition>;
}

export interface Recognizer {
  /** What it does worse than it could, and the remedy; in plain English, without full stop. */
  readonly drawback?: string;

  /**
   * @param options.language ISO 639-1 or BCP 47; one that the model does not know is detected instead.
   * @param options.prompt names that are likely to be said, for models that can be told.
   */
  open(options: { readonly language: string; readonly prompt?: string }): UtteranceStream;

  /** Lets go of the model. Call it when nothing is being transcribed. */
  close(): Promise<void>;
}

/** How a model is to run. */
export interface RecognizerOptions {
  /** Threads of computing; default 1. */
  readonly threads?: number;
}

/** What the module of an engine that recognises speech exports. */
export interface RecognizerModule {
  /** @throws {Error} naming the file, what is wrong with it and the remedy. */
  openRecognizer(modelPath: string, options?: RecognizerOptions): Promise<Recognizer>;
}

/** To a child, after it was told to load. Audio is 8 kHz, mono, signed 16-bit; numbers are the lane's own. */
export type ToChild =
  | {
      readonly kind: 'open';
      readonly utterance: number;
      readonly language: string;
      readonly prompt?: string;
    }
  | { readonly kind: 'audio'; readonly utterance: number; readonly pcm: Int16Array }
  | {
      readonly kind: 'transcribe';
      readonly utterance: number;
      readonly request: number;
      readonly isFinal: boolean;
    }
  /** Ends the request at the model's next step; it still gets its answer or failure. */
  | { readonly kind: 'abort'; readonly request: number }
  | { readonly kind: 'close'; readonly utterance: number }
  | { readonly kind: 'stop' };

/** From a child. */
export type FromChild =
  | { readonly kind: 'loaded'; readonly outcome: LoadOutcome }
  | { readonly kind: 'answer'; readonly request: number; readonly recognition: Recognition }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };
