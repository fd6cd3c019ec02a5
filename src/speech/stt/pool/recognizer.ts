/** The port of a speech recogniser inside its child process (one model, many utterances), and the child's messages. */

export interface RecognizedWord {
  readonly text: string;
  /** From 0 to 1: the lowest of its tokens' probabilities. */
  readonly confidence: number;
  /** Times from the start of the utterance's audio, in milliseconds; absent where the recogniser has none. */
  readonly startMs?: number;
  readonly endMs?: number;
}

/** The model's answer for one utterance, before the hallucination gate. */
export interface Recognition {
  /** Empty without speech. */
  readonly text: string;
  readonly words: readonly RecognizedWord[];
  /** exp of the mean token log-probability, from 0 to 1. */
  readonly confidence: number;
  /** ISO 639-1, such as `en`. */
  readonly language: string;
  /** Chance that the audio holds no speech, from 0 to 1. */
  readonly noSpeechProbability: number;
  /** Number of leading words that the previous answer had too; they are stable. */
  readonly agreedWords?: number;
  readonly audioMs: number;
  /**
   * Clear voice by the voice detector, in milliseconds: each part weighted by how sure the detector is. Given only where no words were
   * recognised; absent also without a detector, and where the recogniser names sounds, such as `[music]`.
   */
  readonly clearVoiceMs?: number;
}

/** One utterance; its features are computed as its audio arrives. */
export interface UtteranceStream {
  /** Adds audio: 8 kHz, mono, signed 16-bit. Audio after 30 s is left out. */
  push(pcm: Int16Array): void;

  /**
   * Recognises the audio pushed so far. May be called again, also after more audio.
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
  /** A drawback of this model file and its remedy, for the operator; without full stop. */
  readonly drawback?: string;

  /**
   * @param options.language ISO 639-1 or BCP 47; a language that the model does not know is detected instead.
   * @param options.prompt names that are likely to be said, for models that take a prompt.
   */
  open(options: { readonly language: string; readonly prompt?: string }): UtteranceStream;

  /** Frees the model. Call it when no transcription is running. */
  close(): Promise<void>;
}

export interface RecognizerOptions {
  /** Threads of the model's runtime; default 1. */
  readonly threads?: number;
}

/** Exports of a recogniser engine's module. */
export interface RecognizerModule {
  /** @throws {Error} naming the file, its fault and the remedy. */
  openRecognizer(modelPath: string, options?: RecognizerOptions): Promise<Recognizer>;
}

/** Shorter audio holds no word, and is shorter than encoders' first filters. */
export const AUDIO_MS_MIN = 100;

/** Recognition of audio without words. */
export function nothingHeard(language: string, audioMs: number): Recognition {
  return { text: '', words: [], confidence: 0, language, noSpeechProbability: 1, audioMs };
}

/** Messages to a recogniser's child, besides `load` and `stop`. Audio is 8 kHz, mono, signed 16-bit; the lane numbers utterances and requests. */
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
  | { readonly kind: 'close'; readonly utterance: number };

/** Messages from a recogniser's child, besides `loaded`. */
export type FromChild =
  | { readonly kind: 'answer'; readonly request: number; readonly recognition: Recognition }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };
