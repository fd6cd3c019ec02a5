/** What the interface may ask of the sound of calls that are going on: how loud they are, and to listen in. */

import type { MessageSocket } from '../../lib/process/message-socket.ts';
import type { Scope } from '../agent/agent.ts';
import type { TransferManner } from '../agent/transfer-rules.ts';
import type { Call, TimelineEntry, TranscriptEntry } from './call.ts';
import type { CallQuality } from './call-life.ts';

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

/**
 * What became of the wish to hand a caller over: begun, or not because of another one under way, because the caller was
 * handed over already, because nobody is there, or because the calls of the agent were handed over too often since 00:00 UTC.
 */
export type TransferStart =
  | 'begun'
  | 'transferring'
  | 'transferred'
  | 'not-in-progress'
  | 'too-many-today';

export interface LiveCalls {
  /** Whether this process holds the call; for a moment after its end on record as well. */
  holds(callId: string): boolean;

  /**
   * Begins to end a live call from our side, as if the agent had hung up: when the code that runs now is done, so that
   * whoever asks inside a transaction has left it.
   *
   * @returns false when this process holds no such call.
   */
  hangUp(callId: string): boolean;

  /**
   * Begins to hand the caller of an answered call over: when the code that runs now is done. Where the other party does
   * not take the call, it goes on here, and its timeline says so.
   *
   * @param number E.164, already allowed.
   * @param manner `PLAIN_TRANSFER` when not given.
   */
  transfer(callId: string, number: string, manner?: TransferManner): TransferStart;
}

export type LiveHappening =
  /** A call is there, or has changed; `call` is the record as it is kept now. */
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'said'; readonly callId: string; readonly entry: TranscriptEntry }
  | { readonly kind: 'timeline'; readonly callId: string; readonly entry: TimelineEntry }
  /** What the caller seems to be saying; the next one of the call replaces it; `said`, or an empty text, ends it. Not kept. */
  | { readonly kind: 'hearing'; readonly callId: string; readonly text: string };

export interface LiveWatcher {
  /** Called after the record was written, in order for each call. Must be quick and must not throw. */
  onHappening(happening: LiveHappening): void;
  /** No more will be told: the server stops. */
  onClosed(): void;
}

export interface LiveFeed {
  /** Tells of the calls of one account and environment from now on. @returns stops it; safe to call twice. */
  watch(scope: Scope, watcher: LiveWatcher): () => void;

  /** How many watch now. */
  readonly size: number;

  /** How many of them watch the calls of one account and environment. */
  sizeOf(scope: Scope): number;

  /** Passes on what a caller seems to be saying. Costs nothing while nobody watches. */
  hearing(callId: string, text: string): void;

  /** Ends every watch. Safe to call twice. */
  close(): void;
}

/** Host of the addresses that browsers call; nobody can look it up, and nobody needs to. RFC 6761. */
export const BROWSER_DOMAIN = 'offhook.invalid';

/** What the one who calls from a browser is called in a call's record. */
export const BROWSER_CALLER = 'browser';

/** Header of the answer by which a page knows its own call: two may call the same agent at one time. */
export const CALL_ID_HEADER = 'X-Service-Call';

/** Connections of browsers at once, and so calls: each costs as much as ten from the telephone network. */
export const BROWSER_CALLS_MAX = 10;

/** A ticket is good for one connection, so long after it was made. */
export const PHONE_TICKET_LIFE_MS = 60_000;

/** Who may ring, and whom. */
export interface BrowserCaller {
  readonly scope: Scope;
  readonly agentId: string;
}

/** One browser's connection: one call at a time. */
export interface BrowserLine {
  /** Ends its call, with BYE. Resolves when the browser has agreed; at once where there is none. */
  hangUp(): Promise<void>;
}

export interface BrowserPhone {
  /** Takes a connection in; it is over when it closes, with its call. */
  connect(socket: MessageSocket, caller: BrowserCaller): BrowserLine;
}
