/** What the server and a speaking child say to each other, whichever engine the child runs. */

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
  | { readonly kind: 'warm'; readonly voice: Sentence['voice'] };

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
