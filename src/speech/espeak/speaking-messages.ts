/** What the server and its speaking child say to each other. */
import type { EspeakVoice } from './espeak-voice.ts';

/** One text for one voice. */
export interface Sentence {
  /** Already cleaned by `spokenText`; never empty. */
  readonly text: string;
  readonly voice: EspeakVoice;
  /** Silence to leave at the end. */
  readonly pauseAfterMs: number;
}

/** What the child is started with. */
export interface SpeakingOrder {
  readonly engine: EspeakEngine;
  /** It says its first word to nobody, and is kept ready. */
  readonly firstVoice: EspeakVoice;
}

/** From the server to the child. */
export type SpeakingRequest =
  | { readonly kind: 'speak'; readonly id: number; readonly sentence: Sentence }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Keeps a process ready for the voice. */
  | { readonly kind: 'warm'; readonly voice: EspeakVoice };

/** From the child to the server. */
export type SpeakingReply =
  | { readonly kind: 'ready' }
  /** The engine cannot speak at all; the child ends. */
  | { readonly kind: 'unready'; readonly reason: string }
  /** PCM: 8 kHz, mono, signed 16-bit. */
  | { readonly kind: 'audio'; readonly id: number; readonly pcm: Int16Array }
  | { readonly kind: 'ended'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

/** Which espeak-ng the child runs. */
export type EspeakEngine =
  | {
      readonly kind: 'program';
      readonly program: string;
      /** Longest time for a whole sentence; then its process is killed. */
      readonly sentenceTimeoutMs?: number;
    }
  | { readonly kind: 'wasm'; readonly moduleName: string };
