/** Registration of a trunk with its carrier. */
import type { TrunkStatus } from '../../../domain/dialing/trunk.ts';
import { type Clock, TRANSACTION_MS, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { CarrierReport } from '../../carrier.ts';
import {
  domainOf,
  hostPortOf,
  proxyUriOf,
  registrarUriOf,
  type Trunk,
} from '../../trunks/trunks.ts';
import { type AnswerChallenge, secondTry } from '../leg/in-dialog-request.ts';
import { reasonOf, type SrfClient, type SrfResponse, sendOver } from './srf.ts';

const RETRY_MS_MIN = 5_000;
const RETRY_MS_MAX = 300_000;

/** Leaves room for the tries with credentials in between. */
const SEQUENCE_STEP = 10;

/** Share of the granted time after which the registration is renewed; leaves time for a retry. */
const REFRESH_SHARE = 0.6;

/** Waits after the connection of a registration is lost: the first spreads trunks, the second is for peers that always close. */
const RECOVERY_MS_MAX = 2_000;
const RECOVERY_MS_AGAIN = 30_000;

/** Goodbye is a courtesy: the process does not wait long for it. */
const GOODBYE_MS = 2_000;

export interface TrunkRegistrationOptions {
  readonly srf: SrfClient;
  readonly trunk: Trunk;
  /** Host and port that the carrier is to call, such as `192.0.2.1:5060`, and the parameters of that URI. */
  readonly contactHostPort: () => Promise<string>;
  readonly newCallId: () => string;
  readonly clock: Clock;
  readonly log: Logger;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Undefined if the server answers challenges. */
  readonly answerChallenge?: AnswerChallenge | undefined;
}

/** @see RFC 3261 section 10.2 */
export class TrunkRegistration {
  readonly #options: TrunkRegistrationOptions;
  /** One for all its life, with a growing CSeq, as a registrar expects. RFC 3261, 10.2. */
  readonly #callId: string;
  /** Replaced where changed settings do not concern its line to the carrier. */
  trunk: Trunk;
  #sequence = 0;
  #expiresSeconds: number;
  #retryMs = RETRY_MS_MIN;
  #isRunning = false;
  #isStopped = false;
  #isRegistered = false;
  #isReplaced = false;
  /** Whether the newest REGISTER has registered us; settles with its answer. Never rejects. */
  #registering: Promise<boolean> = Promise.resolve(false);
  #hasFailed = false;
  #expiresAt: Date | null = null;
  #registeredAtMs = 0;
  #recoveryMs = 0;
  #problem = 'not registered yet';
  /** Our Contact as it went out: the server puts the address in that the carrier sees. */
  #sentContact = '';
  #stopTimer: () => void = () => {};

  constructor(options: TrunkRegistrationOptions) {
    this.#options = options;
    this.#callId = options.newCallId();
    this.trunk = options.trunk;
    this.#expiresSeconds = options.trunk.registerExpiresSeconds;
  }

  /** A registrar answers, or does not. */
  readonly isUncertain = false;

  /** No effect on the registration's state. */
  inviteAnswered(): void {}

  /** Registers now and keeps renewing. Call it again when the server is reachable again. */
  start(): void {
    this.#isRunning = true;
    this.#stopTimer();
    this.#registerNow();
  }

  /** The server is unreachable: waits for `start`. */
  suspend(why: string): void {
    this.#isRunning = false;
    this.#isRegistered = false;
    this.#hasFailed = false;
    this.#problem = why;
    this.#stopTimer();
  }

  /**
   * The connection that REGISTER went over is gone: registers again soon, over a new one.
   *
   * @returns whether the Call-ID is that of this registration.
   */
  connectionLost(callId: string): boolean {
    if (callId !== this.#callId) return false;
    void this.#recover();
    return true;
  }

  /**
   * Unregisters, also after a REGISTER in progress. Resolves when that is done, after 2 s at most. Safe to call
   * twice.
   *
   * @param isReplaced another registration begins when it resolves: no request that could undo it is sent later.
   */
  async stop({ isReplaced = false }: { readonly isReplaced?: boolean } = {}): Promise<void> {
    const wasRegistered = this.#isRegistered;
    this.suspend('stopped');
    if (this.#isStopped) return;
    this.#isStopped = true;
    const { clock, log } = this.#options;
    await within(clock, GOODBYE_MS, this.#unregister(wasRegistered)).catch((error: unknown) => {
      log.debug({ why: reasonOf(error) }, 'the REGISTER that unregisters was not answered');
    });
    this.#isReplaced = isReplaced;
  }

  report(): CarrierReport {
    const { trunk } = this;
    const place = hostPortOf(trunk.proxy);
    const state = this.#isRegistered
      ? `registered with ${place}`
      : `not registered with ${place}: ${this.#problem}`;
    return { name: `trunk ${trunk.name}`, isReady: this.#isRegistered, state };
  }

  status(): TrunkStatus {
    const isRegistered = this.#isRegistered;
    const waiting = this.#isRunning ? 'registering' : 'unregistered';
    const missing = this.#hasFailed ? 'failed' : waiting;
    return {
      state: isRegistered ? 'ready' : missing,
      detail: this.report().state,
      expiresAt: isRegistered ? this.#expiresAt : null,
    };
  }

  #registerNow(): void {
    this.#registering = this.#register();
  }

  async #register(): Promise<boolean> {
    try {
      const response = await this.#exchange(this.#expiresSeconds);
      if (this.#isRunning) this.#take(response);
      return isSuccess(response);
    } catch (error) {
      if (this.#isRunning) this.#retryLater(reasonOf(error));
      return false;
    }
  }

  #take(response: SrfResponse): void {
    const { status } = response;
    const secondsMin = Number(response.get('min-expires'));
    if (isSuccess(response)) {
      this.#registered(response);
    } else if (status === 423 && secondsMin > this.#expiresSeconds && secondsMin <= 86_400) {
      this.#expiresSeconds = secondsMin;
      this.start();
    } else {
      const retryAfterMs = Number.parseInt(response.get('retry-after') ?? '0', 10) * 1000 || 0;
      this.#retryLater(`the carrier answered ${status}${remedyOf(status)}`, retryAfterMs);
    }
  }

  /** Once a REGISTER in progress is answered: the connection may close before its answer arrives here. */
  async #recover(): Promise<void> {
    await this.#registering;
    if (!this.#isRunning || !this.#isRegistered) return;
    const { clock, log, random } = this.#options;
    const isAgain = clock.nowMs() - this.#registeredAtMs < RECOVERY_MS_AGAIN;
    this.#recoveryMs = isAgain
      ? Math.min(RETRY_MS_MAX, Math.max(RECOVERY_MS_AGAIN, this.#recoveryMs * 2))
      : RECOVERY_MS_MAX * random();
    const waitMs = this.#recoveryMs;
    log.info({ trunk: this.trunk.name, waitMs }, 'connection to the carrier lost, registers again');
    this.#wait(waitMs);
  }

  /** Once a REGISTER in progress is answered, which may register us after all. */
  async #unregister(wasRegistered: boolean): Promise<void> {
    const isRegistered = (await this.#registering) || wasRegistered;
    if (isRegistered && !this.#isReplaced) await this.#exchange(0);
  }

  #registered(response: SrfResponse): void {
    if (!this.#isRegistered) this.#options.log.info({ trunk: this.trunk.name }, 'registered');
    this.#isRegistered = true;
    this.#registeredAtMs = this.#options.clock.nowMs();
    this.#hasFailed = false;
    this.#retryMs = RETRY_MS_MIN;
    const seconds = grantedSeconds(response, this.#sentContact);
    const lifeMs = Math.max(10, seconds ?? this.#expiresSeconds) * 1000;
    this.#expiresAt = new Date(this.#options.clock.now().getTime() + lifeMs);
    this.#wait(lifeMs * REFRESH_SHARE);
  }

  #retryLater(why: string, retryAfterMs = 0): void {
    this.#isRegistered = false;
    this.#hasFailed = true;
    this.#problem = why;
    const waitMs = Math.min(RETRY_MS_MAX, Math.max(this.#retryMs, retryAfterMs));
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
    this.#options.log.warn({ trunk: this.trunk.name, why, waitMs }, 'could not register');
    this.#wait(waitMs);
  }

  #wait(delayMs: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(delayMs, () => this.#registerNow());
  }

  /** One REGISTER and its final response. */
  async #exchange(expiresSeconds: number): Promise<SrfResponse> {
    const { trunk } = this;
    const { contactHostPort } = this.#options;
    const hostPort = await contactHostPort();
    if (this.#isStopped && expiresSeconds > 0) {
      throw new Error(`Cannot register trunk "${trunk.name}": it was stopped`);
    }
    // The retry after a challenge uses a number too.
    this.#sequence += SEQUENCE_STEP;
    const address = `<sip:${trunk.username}@${domainOf(trunk)}>`;
    const headers = {
      'Call-ID': this.#callId,
      CSeq: `${this.#sequence} REGISTER`,
      From: address,
      To: address,
      Contact: `<sip:${trunk.username}@${hostPort}>`,
      Expires: String(expiresSeconds),
    };
    return this.#send(headers, true);
  }

  /** Sends REGISTER, and again with credentials after a challenge. */
  async #send(headers: Record<string, string>, isFirst: boolean): Promise<SrfResponse> {
    const { trunk } = this;
    const { srf, clock, answerChallenge } = this.#options;
    const parts = { method: 'REGISTER', headers, proxy: proxyUriOf(trunk) };
    const exchange = sendOver(srf, registrarUriOf(trunk), parts).then(
      async ({ sent, answered }) => [sent, await answered] as const,
    );
    const [refused, response] = await within(clock, TRANSACTION_MS + 1_000, exchange);
    this.#sentContact = addressIn(refused.get('contact') ?? headers.Contact ?? '');
    const isGoodbye = headers.Expires === '0' && !this.#isReplaced;
    const isWanted = isFirst && (!this.#isStopped || isGoodbye);
    const again = isWanted ? secondTry({ refused, response, headers, answerChallenge }) : undefined;
    return again === undefined ? response : this.#send(again, false);
  }
}

/** Remedy for a refusal; empty where it will pass by itself. */
function remedyOf(status: number): string {
  if (status === 401 || status === 407) return ': check username and password';
  if (status === 403)
    return ': check username and password, or ask it whether the account is locked';
  return status === 404 ? ': check username and domain' : '';
}

function isSuccess({ status }: SrfResponse): boolean {
  return status >= 200 && status < 300;
}

/** How long the carrier keeps our Contact: its own `expires` first, then the Expires header. RFC 3261, 10.3. */
function grantedSeconds(response: SrfResponse, sentContact: string): number | undefined {
  const contacts = (response.get('contact') ?? '').split(',');
  const ours = contacts.find((each) => addressIn(each) === sentContact) ?? contacts[0] ?? '';
  const [, own] = /;\s*expires\s*=\s*"?(\d{1,9})/i.exec(ours) ?? [];
  const seconds = Number.parseInt(own ?? response.get('expires') ?? '', 10);
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** User, host and port of the URI in a Contact, without its parameters. */
function addressIn(contact: string): string {
  return /sips?:([^;>\s]+)/i.exec(contact)?.[1] ?? '';
}
