/** Text messages outside of calls: SIP MESSAGE, in and out. */

/** A text message. */
export interface TextMessage {
  /** E.164, or the user part of the far end's URI as received. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** What became of a message that was sent. */
export type TextOutcome =
  | { readonly kind: 'taken' }
  /** The message went no further. `sipStatus` is the far end's final response; null where nothing was sent. */
  | { readonly kind: 'refused'; readonly sipStatus: number | null; readonly reason: string }
  /** The far end did not answer: it may have the message or not. */
  | { readonly kind: 'unanswered' };
