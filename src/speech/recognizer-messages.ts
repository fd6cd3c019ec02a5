/** What the hearing thread and a recogniser's child process tell each other. */
import type { Recognition } from './recognizer.ts';

/** To a child. Audio is 8 kHz, mono, signed 16-bit; numbers are the lane's own. */
export type ToChild =
  /** Comes first, once: load the first of these models that can be loaded. */
  | { readonly kind: 'load'; readonly moduleUrl: string; readonly models: readonly string[] }
  | { readonly kind: 'open'; readonly utterance: number; readonly language: string }
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

/** What came of trying models one after the other. */
export interface LoadOutcome {
  /** The one in use; null when none could be loaded. */
  readonly model: string | null;
  /** Messages of those that could not. */
  readonly failures: readonly string[];
}

/** From a child. */
export type FromChild =
  | { readonly kind: 'loaded'; readonly outcome: LoadOutcome }
  | { readonly kind: 'answer'; readonly request: number; readonly recognition: Recognition }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };
