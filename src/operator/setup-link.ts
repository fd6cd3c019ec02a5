/** The link that sets the operator's first password: made at each start while there is none, good for one use. */

import { SETUP_LINK_LIFE_MS } from '../domain/account/operator.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOfText, isSameText, newSecretText } from './secret-text.ts';

export class SetupLink {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  #known: { readonly hash: string; readonly endsAtMs: number } | undefined;

  constructor(options: { readonly clock: Clock; readonly random: RandomBytes }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** Makes the link's token; the one before is good for nothing from now on. Only the hash is kept. */
  issue(): string {
    const token = newSecretText(this.#random);
    this.#known = {
      hash: hashOfText(token),
      endsAtMs: this.#clock.nowMs() + SETUP_LINK_LIFE_MS,
    };
    return token;
  }

  /** Whether the token is that of the link, which is neither old nor used. */
  isGood(token: string): boolean {
    const known = this.#known;
    if (known === undefined || this.#clock.nowMs() >= known.endsAtMs) return false;
    return isSameText(hashOfText(token), known.hash);
  }

  /** No token is good any more. */
  close(): void {
    this.#known = undefined;
  }
}
