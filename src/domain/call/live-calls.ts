/** What the interface may ask of calls that are going on. */
import type { TransferManner } from '../agent/transfer-mode.ts';

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
