/** Calls in progress: levels, listening in, live events, hang-up, transfer, and calls from browsers. */

import type { MessageSocket } from '../../lib/process/message-socket.ts';
import type { Scope } from '../agent/agent.ts';
import type { TransferManner } from '../agent/transfer-rules.ts';
import type { Call, TimelineEntry, TranscriptEntry } from './call.ts';
import type { CallQuality } from './call-life.ts';

/** Peak level of both sides since the last report, in whole dBFS, from -90 to 0. */
export interface CallLevels {
  readonly callId: string;
  readonly callerDbfs: number;
  readonly agentDbfs: number;
}

/** Interval between two reports of levels. */
export const LEVELS_MS = 250;

/** Length of a piece of sound for listeners. */
export const PIECE_MS = 100;

/** Sound for listeners: interleaved, little-endian, signed 16-bit samples; caller left, agent right. */
export const LIVE_SOUND_SHAPE = { channels: 2, rateHz: 8000 } as const;

/** Receives the sound of one call. Its methods must be quick and must not throw. */
export interface SoundListener {
  /** The next piece, in the shape of `LIVE_SOUND_SHAPE`; shared with other listeners. */
  onSound(pcm: Uint8Array): void;
  /** Called once: the call is over, or the server stops. Not after `stop`. */
  onOver(): void;
}

/** Result of asking to listen in. */
export type Listening =
  /** `header` goes before the first piece: with it, all that comes is an endless WAV. */
  | { readonly kind: 'begun'; readonly header: Uint8Array; readonly stop: () => void }
  /** No such call in progress: unknown, not answered yet, or over. */
  | { readonly kind: 'not-in-progress' }
  /** Simulated calls run faster than real time and cannot be listened to. */
  | { readonly kind: 'simulated' }
  | { readonly kind: 'full'; readonly why: string };

/** Levels and sound of calls in progress. */
export interface LiveSound {
  /**
   * Reports the levels of the calls in progress of one account and environment every `LEVELS_MS`, while there are any.
   *
   * @returns stops it; safe to call twice.
   */
  watchLevels(scope: Scope, onLevels: (levels: readonly CallLevels[]) => void): () => void;

  /** Starts to send the sound of a call. The caller of this method has checked whose call it is. */
  listen(callId: string, listener: SoundListener): Listening;

  /** Quality of a call so far; undefined where it is not in progress, or has no packets. */
  quality(callId: string): Promise<CallQuality | undefined>;

  /** Ends all of it. Safe to call twice. */
  close(): void;
}

/**
 * Result of a transfer request: begun; another transfer is in progress; the call was transferred already; the call is not
 * in progress; or the agent has used up its transfers since 00:00 UTC.
 */
export type TransferStart =
  | 'begun'
  | 'transferring'
  | 'transferred'
  | 'not-in-progress'
  | 'too-many-today';

/** Control of calls in progress: hang-up and transfer. */
export interface LiveCalls {
  /** Whether this process holds the call; for a moment after its end on record as well. */
  holds(callId: string): boolean;

  /**
   * Hangs up a call in progress, as the agent would. It begins after the current tick, so that a transaction in progress
   * has ended.
   *
   * @returns false when this process holds no such call.
   */
  hangUp(callId: string): boolean;

  /**
   * Transfers an answered call, after the current tick. If the third party does not accept, the call goes on, and its timeline
   * has an entry.
   *
   * @param number E.164, already allowed.
   * @param manner `PLAIN_TRANSFER` when not given.
   */
  transfer(callId: string, number: string, manner?: TransferManner): TransferStart;
}

/** Event of a call in progress, for the live view. */
export type LiveCallEvent =
  /** A call is there, or has changed; `call` is the record as it is kept now. */
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'said'; readonly callId: string; readonly entry: TranscriptEntry }
  | { readonly kind: 'timeline'; readonly callId: string; readonly entry: TimelineEntry }
  /** Interim result of recognition; the next one replaces it, `said` or an empty text ends it. Not stored. */
  | { readonly kind: 'hearing'; readonly callId: string; readonly text: string };

/** Receives the live events of one account and environment. */
export interface LiveWatcher {
  /** Called after the record was written, in order for each call. Must be quick and must not throw. */
  onEvent(event: LiveCallEvent): void;
  /** The server stops: no more events. */
  onClosed(): void;
}

/** Passes live events on to watchers. */
export interface LiveFeed {
  /** Sends the events of one account and environment from now on. @returns stops it; safe to call twice. */
  watch(scope: Scope, watcher: LiveWatcher): () => void;

  /** How many watch now. */
  readonly size: number;

  /** How many of them watch the calls of one account and environment. */
  sizeOf(scope: Scope): number;

  /** Passes on an interim result. Costs nothing without watchers. */
  hearing(callId: string, text: string): void;

  /** Ends every watch. Safe to call twice. */
  close(): void;
}

/** Host of the SIP addresses that browsers call; reserved, so that it never resolves. @see RFC 6761 */
export const BROWSER_DOMAIN = 'offhook.invalid';

/** `from` of a call from a browser. */
export const BROWSER_CALLER = 'browser';

/** Header of the answer by which a page knows its own call: two may call the same agent at one time. */
export const CALL_ID_HEADER = 'X-Service-Call';

/** Browser calls in progress at most: each costs as much as ten from the telephone network. */
export const BROWSER_CALLS_MAX = 10;

/** Lifetime of a ticket, which is good for one connection. */
export const PHONE_TICKET_LIFE_MS = 60_000;

/** Owner of a ticket, and the agent that it may call. */
export interface BrowserCaller {
  readonly scope: Scope;
  readonly agentId: string;
  /** Whether the agent answers with its draft. */
  readonly isDraft: boolean;
}

/** One browser's connection: one call at a time. */
export interface BrowserLine {
  /** Ends its call, with BYE. Resolves when the browser has agreed; at once where there is none. */
  hangUp(): Promise<void>;
}

/** Takes SIP connections from browsers. */
export interface BrowserPhone {
  /** Takes a connection in; it is over when it closes, with its call. */
  connect(socket: MessageSocket, caller: BrowserCaller): BrowserLine;
}
