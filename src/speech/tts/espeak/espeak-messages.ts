/** What the server tells a child that speaks with espeak-ng. */
import type { SpokenSentence } from '../pool/speaking-messages.ts';
import type { EspeakVoice } from './espeak-voice.ts';

/** One text for one voice. */
export interface Sentence extends SpokenSentence {
  readonly voice: EspeakVoice;
}

/** What the child is started with. */
export interface SpeakingOrder {
  readonly engine: EspeakEngine;
  /** It says its first word to nobody, and is kept ready. */
  readonly firstVoice: EspeakVoice;
}

/** Which espeak-ng the child runs. */
export type EspeakEngine =
  | {
      readonly kind: 'program';
      readonly program: string;
      /** Longest time for a whole sentence; then its process is killed. */
      readonly sentenceTimeoutMs?: number;
    }
  | { readonly kind: 'wasm'; readonly moduleName: string };
