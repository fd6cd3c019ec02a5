/** The ways in which a caller is brought together with somebody else; pure */

/**
 * `cold`: whoever picks up is with the caller at once, and the agent is gone. `warm`: is told alone first what it is about.
 * `three-way`: likewise, and then the agent stays and talks with both.
 */
export const TRANSFER_MODES = ['cold', 'warm', 'three-way'] as const;

export type TransferMode = (typeof TRANSFER_MODES)[number];

/** A way, and what whoever picks up is to know. */
export interface TransferManner {
  readonly mode: TransferMode;
  /** What the caller wants, in a sentence or two; empty when nobody said. */
  readonly summary: string;
}

/** How it is done where nobody says. */
export const PLAIN_TRANSFER: TransferManner = { mode: 'cold', summary: '' };
