/** Decides about answered calls whose SIP server was lost: which of them go on when it is back, and which are over. */
import type { Clock } from '../../../lib/clock.ts';
import type { ReleaseCause } from '../../carrier.ts';

/** How long a server may be away. Calls that wait longer are over, so that nothing is left of them after 10 s. */
const PATIENCE_MS = 5_000;

/** A server that lives on tells a new connection nothing of the calls of the old one, not even that they ended. */
const CHECK_EVERY_MS = 5_000;

/** So many questions are on their way at a time: a server that comes back shall take new calls too. */
const CHECKS_AT_ONCE = 20;

/** What is asked of an answered call. */
export interface OrphanedLeg {
  readonly isOver: boolean;
  /** Says that no word of the far end comes any more until `isGone` has been asked. */
  strand(): void;
  /** Whether server or far end have forgotten the call. Settles within seconds, and never rejects. */
  isGone(): Promise<boolean>;
  /** Ends the call without the server's help. Safe to call twice. */
  abandon(cause: ReleaseCause): void;
}

export class OrphanedLegs {
  readonly #clock: Clock;
  #legs = new Set<OrphanedLeg>();
  /** Counts losses and returns: answers of an earlier round mean nothing. */
  #round = 0;
  #cancelTimer: () => void = () => {};

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** The connection is lost: its calls wait a while. */
  lost(legs: Iterable<OrphanedLeg>): void {
    this.stop();
    this.#legs = new Set(legs);
    for (const leg of this.#legs) leg.strand();
    this.#wait(PATIENCE_MS, () => {
      this.#abandon([...this.#legs], {
        kind: 'broken',
        reason: 'the SIP server is out of reach',
      });
    });
  }

  /** The server is back: its calls are asked about now, and every 5 s to their end. */
  connected(): void {
    this.stop();
    void this.#check(this.#round, { kind: 'broken', reason: 'the SIP server has lost the call' });
  }

  /** Lets the calls be. Safe to call twice. */
  stop(): void {
    this.#round += 1;
    this.#cancelTimer();
  }

  #wait(delayMs: number, work: () => void): void {
    for (const leg of this.#legs) if (leg.isOver) this.#legs.delete(leg);
    if (this.#legs.size > 0) this.#cancelTimer = this.#clock.after(delayMs, work);
  }

  async #check(round: number, causeOfLoss: ReleaseCause): Promise<void> {
    const waiting = [...this.#legs];
    const lane = async () => {
      for (let leg = waiting.shift(); leg !== undefined; leg = waiting.shift()) {
        const isGone = !leg.isOver && (await leg.isGone());
        if (round !== this.#round) return;
        if (isGone) this.#abandon([leg], causeOfLoss);
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, lane));
    if (round !== this.#round) return;
    // What the server still had a while ago, it has lost by the far end's BYE.
    this.#wait(CHECK_EVERY_MS, () => void this.#check(round, { kind: 'far-end' }));
  }

  #abandon(legs: readonly OrphanedLeg[], cause: ReleaseCause): void {
    for (const leg of legs) {
      this.#legs.delete(leg);
      leg.abandon(cause);
    }
  }
}
