/** What both builds of espeak-ng have in common, inside the speaking child. */

import type { Sentence } from './espeak-messages.ts';
import type { EspeakVoice } from './espeak-voice.ts';

/** Takes what espeak-ng writes about one sentence. After `ended` or `failed` nothing more comes. */
export interface WaveSink {
  /** Pieces of a WAV stream, of any size. The bytes may be reused after the call. */
  wave(bytes: Uint8Array): void;
  ended(): void;
  failed(reason: string): void;
}

/** Speaks sentences, several at a time or in turn. */
export interface SentenceEngine {
  /** @throws {Error} when the engine cannot speak at all. */
  start(): Promise<void>;

  /** Ends its processes, and waits until they have ended. Safe to call twice. */
  stop(): Promise<void>;

  /**
   * Speaks one sentence.
   *
   * @returns cancels it: the sink hears nothing more. Safe to call twice, and after the end.
   */
  speak(sentence: Sentence, sink: WaveSink): () => void;

  /** Gets ready for a voice before it is needed. */
  warm(voice: EspeakVoice): void;
}
