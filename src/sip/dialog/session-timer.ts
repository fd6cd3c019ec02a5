/** Session timer: refreshes a session, and ends it when the peer's refresh is overdue. RFC 4028. */
import type { Clock } from '../../lib/clock.ts';
import { parseDecimal, parseParams } from '../message/grammar.ts';
import type { SipMessage } from '../message/message.ts';
import { ifSound, SipError } from '../message/status.ts';

interface SessionTimerHooks {
  readonly clock: Clock;
  /** Sends the refresh; called after half the interval if we are the refresher. */
  readonly refresh: () => void;
  /** The peer did not refresh in time. */
  readonly expire: () => void;
}

/** The other side hangs up shortly before the interval ends. RFC 4028, 10. */
const EARLY_MS_MAX = 32_000;

/** Session timer of one dialog. */
export class SessionTimer {
  readonly #hooks: SessionTimerHooks;
  #terms: SessionTerms | null = null;
  #isOurs = false;
  #cancelRefresh: () => void = () => undefined;
  #cancelExpiry: () => void = () => undefined;

  constructor(hooks: SessionTimerHooks) {
    this.#hooks = hooks;
  }

  /** Interval in force; null without a session timer. */
  get intervalMs(): number | null {
    return this.#terms?.intervalMs ?? null;
  }

  /** Whether the refreshes are ours to send. */
  get isRefresher(): boolean {
    return this.#isOurs;
  }

  /**
   * Starts a new interval.
   *
   * @param terms agreed in the newest exchange; null stops the session timer.
   * @param role our role in that exchange.
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

/** Agreement of two sides on keeping a session alive: Session-Expires and Min-SE. */
export interface SessionTimerOptions {
  /** Time without a refresh after which a session is dead. */
  readonly intervalMs: number;
  /** No shorter interval is agreed to; 90,000 at least. RFC 4028, 5. */
  readonly intervalMsMin: number;
}

/** Role, in the exchange that agreed on it, of the side that sends refreshes. */
export interface SessionTerms {
  readonly intervalMs: number;
  readonly refresher: 'uac' | 'uas';
}

/** Shortest interval that every server accepts. RFC 4028, 4. */
export const SHORTEST_INTERVAL_MS = 90_000;

const SECONDS_MAX = 0x7fffffff;

/** Session-Expires of a message; null without one. The refresher is null if the header leaves the choice. */
export function parseSessionExpires(
  message: SipMessage,
): { intervalMs: number; refresher: 'uac' | 'uas' | null } | null {
  const value = message.get('session-expires');
  if (value === undefined) return null;
  const semicolon = value.indexOf(';');
  const digits = semicolon === -1 ? value : value.slice(0, semicolon);
  const seconds = parseDecimal(digits.trim(), SECONDS_MAX);
  if (seconds === undefined) throw new SipError(400, 'Bad Session-Expires');
  const refresher =
    semicolon === -1 ? undefined : parseParams(value.slice(semicolon)).get('refresher');
  const isKnown = refresher === 'uac' || refresher === 'uas';
  return { intervalMs: seconds * 1000, refresher: isKnown ? refresher : null };
}

/** Min-SE of a 422 in milliseconds; null without one. */
export function parseMinSe(message: SipMessage): number | null {
  const [digits = ''] = (message.get('min-se') ?? '').split(';', 1);
  const seconds = parseDecimal(digits.trim(), SECONDS_MAX);
  return seconds === undefined ? null : seconds * 1000;
}

/** Min-SE of the 422 with which a request for too short an interval is refused; undefined for any other. RFC 4028, 9. */
export function refusalOfInterval(
  request: SipMessage,
  own: SessionTimerOptions | undefined,
): { readonly headers: { readonly 'Min-SE': string } } | undefined {
  const wanted = parseSessionExpires(request);
  if (wanted === null || !request.hasToken('supported', 'timer')) return undefined;
  const minMs = own?.intervalMsMin ?? SHORTEST_INTERVAL_MS;
  return wanted.intervalMs < minMs ? { headers: { 'Min-SE': seconds(minMs) } } : undefined;
}

/**
 * Terms of a server's answer to INVITE or UPDATE; null: no session timer.
 *
 * @see RFC 4028 section 9 and its table 2
 */
export function answerTerms(
  request: SipMessage,
  own: SessionTimerOptions | undefined,
): SessionTerms | null {
  const wanted = parseSessionExpires(request);
  const peerCan = request.hasToken('supported', 'timer');
  if (wanted !== null) {
    return {
      intervalMs: wanted.intervalMs,
      refresher: peerCan ? (wanted.refresher ?? 'uac') : 'uas',
    };
  }
  if (own === undefined) return null;
  return { intervalMs: own.intervalMs, refresher: peerCan ? 'uac' : 'uas' };
}

/** Terms that a 2xx sets at the client; null without or with an unreadable Session-Expires. RFC 4028, 7.2. */
export function answeredTerms(response: SipMessage): SessionTerms | null {
  const terms = ifSound(() => parseSessionExpires(response));
  return terms ? { intervalMs: terms.intervalMs, refresher: terms.refresher ?? 'uac' } : null;
}

/**
 * Adds the terms to the 2xx that answers `request`, with `Require` if the peer supports session timers: mandatory if
 * it is the refresher, recommended otherwise, because it must hang up when a refresh is missing. RFC 4028, 9.
 */
export function addAgreedSessionExpires(
  response: SipMessage,
  terms: SessionTerms,
  request: SipMessage,
): void {
  response.set('session-expires', formatTerms(terms));
  if (request.hasToken('supported', 'timer')) response.set('require', 'timer');
}

/** Writes the wish for a session timer on a request. */
export function addSessionExpires(
  request: SipMessage,
  wish: { intervalMs: number; intervalMsMin: number; refresher?: 'uac' | 'uas' },
): void {
  const { intervalMs, intervalMsMin, refresher } = wish;
  const value =
    refresher === undefined ? seconds(intervalMs) : formatTerms({ intervalMs, refresher });
  request.set('session-expires', value).set('min-se', seconds(intervalMsMin));
}

function formatTerms({ intervalMs, refresher }: SessionTerms): string {
  return `${seconds(intervalMs)};refresher=${refresher}`;
}

function seconds(ms: number): string {
  return String(Math.ceil(ms / 1000));
}
