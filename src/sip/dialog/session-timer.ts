/** Keeps a session alive, or ends it when the peer lets it die. RFC 4028. */
import type { Clock } from '../../lib/clock.ts';
import { parseDecimal, parseParams } from '../message/grammar.ts';
import type { SipMessage } from '../message/message.ts';
import { faultOf, SipError } from '../message/status.ts';
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

/** What two sides agree on about keeping a session alive: Session-Expires and Min-SE */
export interface SessionTimerOptions {
  /** After that long without a refresh a session is dead. */
  readonly intervalMs: number;
  /** No shorter interval is agreed to; 90,000 at least. RFC 4028, 5. */
  readonly intervalMsMin: number;
}

/** Which side of the exchange that agreed on it sends the refreshes. */
export interface SessionTerms {
  readonly intervalMs: number;
  readonly refresher: 'uac' | 'uas';
}

/** RFC 4028, 4: intervals shorter than that may be refused by anyone. */
export const SHORTEST_INTERVAL_MS = 90_000;

const SECONDS_MAX = 0x7fffffff;

/** What Session-Expires says; the refresher is null where it leaves the choice. Null: no such header. */
export function parseSessionExpires(
  message: SipMessage,
): { intervalMs: number; refresher: 'uac' | 'uas' | null } | null {
  const value = message.get('session-expires');
  if (value === undefined) return null;
  const semicolon = value.indexOf(';');
  const digits = semicolon === -1 ? value : value.slice(0, semicolon);
  const seconds = parseDecimal(digits.trim(), SECONDS_MAX);
  if (seconds === undefined) throw new SipError(400, 'Bad Session-Expires');
  const refresher = semicolon === -1 ? undefined : parseParams(value, semicolon).get('refresher');
  const isKnown = refresher === 'uac' || refresher === 'uas';
  return { intervalMs: seconds * 1000, refresher: isKnown ? refresher : null };
}

/** Min-SE of a 422 in milliseconds; null where it has none. */
export function parseMinSe(message: SipMessage): number | null {
  const [digits = ''] = (message.get('min-se') ?? '').split(';', 1);
  const seconds = parseDecimal(digits.trim(), SECONDS_MAX);
  return seconds === undefined ? null : seconds * 1000;
}

/** Whether a request asks for an interval that the server is to refuse with 422. RFC 4028, 9. */
export function isTooBrief(request: SipMessage, own: SessionTimerOptions | undefined): boolean {
  const wanted = parseSessionExpires(request);
  if (wanted === null || !request.hasToken('supported', 'timer')) return false;
  return wanted.intervalMs < (own?.intervalMsMin ?? SHORTEST_INTERVAL_MS);
}

/**
 * What a server answers to INVITE or UPDATE; null: no session timer.
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

/** What a client takes from a 2xx; null: the session needs no refresh, or nobody can read it. RFC 4028, 7.2. */
export function answeredTerms(response: SipMessage): SessionTerms | null {
  if (faultOf(() => parseSessionExpires(response)) !== undefined) return null;
  const terms = parseSessionExpires(response);
  return terms === null
    ? null
    : { intervalMs: terms.intervalMs, refresher: terms.refresher ?? 'uac' };
}

/**
 * Writes the terms on the 2xx that answers `request`. `Require` wherever the peer knows session timers: it must if it is to
 * refresh, and should else, for it is to hang up where no refresh comes. RFC 4028, 9.
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
