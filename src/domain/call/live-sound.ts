/** What the interface may ask of the sound of calls that are going on: how loud they are, and to listen in. */
import type { Scope } from '../agent/agent.ts';
import type { CallQuality } from './call-quality.ts';

/** How loud both sides of a call were at most since it was told last: whole dB below full scale, from -90 to 0. */
export interface CallLevels {
  readonly callId: string;
  readonly callerDbfs: number;
  readonly agentDbfs: number;
}

/** How often levels are told. */
export const LEVELS_MS = 250;

/** How often those who listen get a piece of sound. */
export const PIECE_MS = 100;

/** What those who listen hear: interleaved, little-endian, signed 16-bit samples; caller left, agent right. */
export const LIVE_SOUND_SHAPE = { channels: 2, rateHz: 8000 } as const;

/** Who listens in. Its methods must be quick and must not throw. */
export interface SoundListener {
  /** The next piece, in the shape of `LIVE_SOUND_SHAPE`; shared with the others who listen. */
  onSound(pcm: Uint8Array): void;
  /** Called once: the call is over, or the server stops. Not after `stop`. */
  onOver(): void;
}

export type Listening =
  /** `header` goes before the first piece: with it, all that comes is an endless WAV. */
  | { readonly kind: 'begun'; readonly header: Uint8Array; readonly stop: () => void }
  /** Nobody holds such a call, it was not answered yet, or it is over. */
  | { readonly kind: 'not-in-progress' }
  /** A simulated call goes by faster than time, so there is nothing to listen to. */
  | { readonly kind: 'simulated' }
  | { readonly kind: 'full'; readonly why: string };

export interface LiveSound {
  /**
   * Measures the calls of one account and environment that are in progress, and tells how loud they are every
   * `LEVELS_MS`; says nothing while there are none.
   *
   * @returns stops it; safe to call twice.
   */
  watchLevels(scope: Scope, onLevels: (levels: readonly CallLevels[]) => void): () => void;

  /** Lets somebody hear a call from now on. Whose call it is has been checked. */
  listen(callId: string, listener: SoundListener): Listening;

  /** How well a call's packets have travelled so far; undefined where it is not in progress, or has none. */
  quality(callId: string): Promise<CallQuality | undefined>;

  /** Ends all of it. Safe to call twice. */
  close(): void;
}
