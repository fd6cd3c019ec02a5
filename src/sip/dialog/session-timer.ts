/** Keeps a session alive, or ends it when the peer lets it die. RFC 4028. */
import type { Clock } from '../../lib/clock.ts';
import type { SessionTerms } from '../message/session-expires.ts';
import { doNothing } from '../noop.ts';

export interface SessionTimerHooks {
  readonly clock: Clock;
  /** Sends the refresh; called halfway through the interval where it is ours to send. */
  readonly refresh: () => void;
  /** The peer did not refresh in time. */
  readonly expire: () => void;
}

/** RFC 4028, 10: the side that does not refresh hangs up a little before the end. */
const EARLY_MS_MAX = 32_000;

export class SessionTimer {
  readonly #hooks: SessionTimerHooks;
  #terms: SessionTerms | null = null;
  #isOurs = false;
  #cancelRefresh: () => void = doNothing;
  #cancelExpiry: () => void = doNothing;

  constructor(hooks: SessionTimerHooks) {
    this.#hooks = hooks;
  }

  /** The interval in force; null where there is no session timer. */
  get intervalMs(): number | null {
    return this.#terms?.intervalMs ?? null;
  }

  /** Whether the refreshes are ours to send. */
  get isRefresher(): boolean {
    return this.#isOurs;
  }

  /**
   * Begins a new interval.
   *
   * @param terms as agreed in the newest exchange; null ends the session timer.
   * @param role our side of that exchange.
   */
  restart(terms: SessionTerms | null, role: 'uac' | 'uas'): void {
    this.stop();
    this.#terms = terms;
    this.#isOurs = terms?.refresher === role;
    if (terms === null) return;
    const { clock, refresh, expire } = this.#hooks;
    const { intervalMs } = terms;
    const expiryMs = intervalMs - Math.min(EARLY_MS_MAX, intervalMs / 3);
    this.#cancelExpiry = clock.after(expiryMs, expire);
    if (this.#isOurs) this.#cancelRefresh = clock.after(intervalMs / 2, refresh);
  }

  stop(): void {
    this.#cancelRefresh();
    this.#cancelExpiry();
  }
}
