/** What the hearing thread and a recogniser's child process tell each other. */
import type { LoadOutcome } from '../../models/load-outcome.ts';
import type { Recognition } from './recognizer.ts';

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
