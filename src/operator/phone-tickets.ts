/** The tickets that open a browser's connection for calls: each for one agent, good once and for a minute. */

import { type BrowserCaller, PHONE_TICKET_LIFE_MS } from '../domain/call/live-sound.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOfText, newSecretText } from './secret-text.ts';

/** More tickets than an operator needs in a minute; beyond that the oldest expires. */
const TICKETS_MAX = 100;

/** What a ticket stands for. */
export interface PhoneTicket extends BrowserCaller {
  /** Session of the operator that requested it. */
  readonly sessionHash: string;
}

export class PhoneTickets {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  /** By the hash of the ticket, oldest first. */
  readonly #entries = new Map<string, PhoneTicket & { readonly endsAtMs: number }>();

  constructor(options: { readonly clock: Clock; readonly random: RandomBytes }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** @returns the ticket's text, shown this once, and until when it is good. */
  issue(ticket: PhoneTicket): { readonly text: string; readonly expiresAt: Date } {
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= TICKETS_MAX && oldest !== undefined) this.#entries.delete(oldest);
    const text = newSecretText(this.#random);
    const endsAtMs = this.#clock.nowMs() + PHONE_TICKET_LIFE_MS;
    this.#entries.set(hashOfText(text), { ...ticket, endsAtMs });
    return { text, expiresAt: new Date(this.#clock.now().getTime() + PHONE_TICKET_LIFE_MS) };
  }

  /** Uses the ticket up. @returns undefined when there is none, or no longer. */
  take(text: string): PhoneTicket | undefined {
    const hash = hashOfText(text);
    const entry = this.#entries.get(hash);
    this.#entries.delete(hash);
    return entry !== undefined && this.#clock.nowMs() < entry.endsAtMs ? entry : undefined;
  }
}
