/** Registrations and probes (OPTIONS) of all trunks, as seen from one SIP server. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { TrunkStatus } from '../../../domain/dialing/trunk.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { CarrierReport } from '../../carrier.ts';
import {
  domainOf,
  hostPortOf,
  proxyUriOf,
  registrarUriOf,
  type Trunk,
} from '../../trunks/trunks.ts';
import type { AnswerChallenge } from '../leg/in-dialog-request.ts';
import type { OurContacts } from './our-contacts.ts';
import { reasonOf, type SrfSentRequest } from './srf.ts';
import type { SrfLink } from './srf-link.ts';
import { TrunkRegistration, type TrunkRegistrationOptions } from './trunk-registration.ts';

interface TrunkRegistrationsOptions {
  readonly link: SrfLink;
  readonly trunks: readonly Trunk[];
  readonly contacts: OurContacts;
  readonly answerChallenge?: AnswerChallenge;
  readonly clock: Clock;
  readonly log: Logger;
}

type TrunkWatch = TrunkRegistration | TrunkProbe;

/** Keeps every trunk registered or probed while the SIP server is connected. */
export class TrunkRegistrations {
  readonly #options: Omit<TrunkRegistrationsOptions, 'trunks'>;
  /** Registrations first, as in reports. */
  #watches: readonly TrunkWatch[];
  #isRunning = false;

  constructor({ trunks, ...options }: TrunkRegistrationsOptions) {
    this.#options = options;
    this.#watches = inOrder(trunks.map((trunk) => this.#watch(trunk)));
  }

  /** Registers and probes now, and periodically. */
  start(): void {
    this.#isRunning = true;
    for (const watch of this.#watches) watch.start();
  }

  /** Waits: the server is out of reach. */
  suspend(why: string): void {
    this.#isRunning = false;
    for (const watch of this.#watches) watch.suspend(why);
  }

  /**
   * Watches these trunks from now on. Registrations of trunks that are gone are taken back; one whose line to the
   * carrier has changed is registered once the former registration is taken back. Resolves then, after 2 s at most.
   */
  async useTrunks(trunks: readonly Trunk[]): Promise<void> {
    const former = this.#watches;
    const watches = trunks.map((trunk) => {
      const known = former.find((watch) => isDeepStrictEqual(lineOf(watch.trunk), lineOf(trunk)));
      if (known !== undefined) known.trunk = trunk;
      return known ?? this.#watch(trunk);
    });
    this.#watches = inOrder(watches);
    const gone = former.filter((watch) => !watches.includes(watch));
    const begun = watches.filter((watch) => !former.includes(watch));
    const goodbyes = new Map(
      gone.map((watch) => {
        const { name } = watch.trunk;
        const isReplaced = begun.some(({ trunk }) => trunk.register && trunk.name === name);
        return [name, watch.stop({ isReplaced })];
      }),
    );
    await Promise.all([
      ...goodbyes.values(),
      ...begun.map((watch) => this.#begin(watch, goodbyes.get(watch.trunk.name))),
    ]);
  }

  /** The connection of the REGISTER with that Call-ID is gone. */
  connectionLost(callId: string): void {
    this.#watches.some(
      (watch) => watch instanceof TrunkRegistration && watch.connectionLost(callId),
    );
  }

  /** Takes all registrations back. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.allSettled(this.#watches.map((watch) => watch.stop()));
  }

  /** Reason why calls cannot use the trunk; undefined while they can. */
  problemOf(trunk: Trunk): string | undefined {
    const { state, detail } = this.statusOf(trunk);
    return state === 'ready' ? undefined : detail;
  }

  /** Whether a trunk that is down may be alive because its proxy may ignore OPTIONS: a call will show. */
  isUncertain(trunk: Trunk): boolean {
    return this.#watchOf(trunk)?.isUncertain ?? false;
  }

  /** Sorts: trunks that take calls, those that may be alive, those that are down; each in the given order. */
  bestFirst(trunks: readonly Trunk[]): readonly Trunk[] {
    const rankOf = (trunk: Trunk) => {
      if (this.problemOf(trunk) === undefined) return 0;
      return this.isUncertain(trunk) ? 1 : 2;
    };
    return [...trunks].sort((a, b) => rankOf(a) - rankOf(b));
  }

  /** The trunk's proxy has answered an INVITE. */
  inviteAnswered(trunk: Trunk): void {
    this.#watchOf(trunk)?.inviteAnswered();
  }

  /** How the trunk is, as it is reached from this server. */
  statusOf(trunk: Trunk): TrunkStatus {
    const unknown = { state: 'failed', detail: 'not set up', expiresAt: null } as const;
    return this.#watchOf(trunk)?.status() ?? unknown;
  }

  reports(): readonly CarrierReport[] {
    return this.#watches.map((watch) => watch.report());
  }

  /** Finds a watch by the trunk's name: the settings of a call's trunk may have changed since. */
  #watchOf({ name }: Trunk): TrunkWatch | undefined {
    return this.#watches.find((watch) => watch.trunk.name === name);
  }

  /** The REGISTER that takes the former registration back must not overtake the new one. */
  async #begin(watch: TrunkWatch, goodbye: Promise<void> | undefined): Promise<void> {
    await goodbye;
    if (this.#isRunning && this.#watches.includes(watch)) watch.start();
  }

  #watch(trunk: Trunk): TrunkWatch {
    const { link } = this.#options;
    if (trunk.register) return this.#registrationOf(trunk);
    const serverProblem = () => (link.isConnected ? undefined : link.problem);
    const { srf } = link;
    return new TrunkProbe({ ...this.#options, srf, trunk, serverProblem, random: Math.random });
  }

  #registrationOf(trunk: Trunk): TrunkRegistration {
    const { link, contacts } = this.#options;
    return new TrunkRegistration({
      ...this.#options,
      srf: link.srf,
      trunk,
      contactHostPort: () => contacts.ofTrunk(trunk),
      newCallId: randomUUID,
      random: Math.random,
    });
  }
}

function inOrder(watches: readonly TrunkWatch[]): readonly TrunkWatch[] {
  const registered = watches.filter(({ trunk }) => trunk.register);
  return [...registered, ...watches.filter(({ trunk }) => !trunk.register)];
}

function lineOf(trunk: Trunk): Partial<Trunk> {
  const { name, proxy, domain, username, password, realm, register, advertisedAddress } = trunk;
  const { registerExpiresSeconds, optionsIntervalSeconds } = trunk;
  return {
    ...{ name, proxy, domain, username, password, realm, register, advertisedAddress },
    ...{ registerExpiresSeconds, optionsIntervalSeconds },
  } as Partial<Trunk>;
}

/** Four transmissions over UDP. RFC 3261, 17.1.2.2. */
const ANSWER_MS_MAX = 4_000;

/** One lost request of a busy proxy is no failure. */
const MISSES_MAX = 2;

/** From the first miss to the request that decides. */
const RETRY_MS = 1_000;

/** Spreads the first requests to many trunks. */
const FIRST_MS_MAX = 2_000;

/** Each interval is shorter or longer by up to this share, so that requests to many trunks stay spread. */
const JITTER = 0.1;

interface TrunkProbeOptions
  extends Pick<TrunkRegistrationOptions, 'srf' | 'trunk' | 'clock' | 'log' | 'random'> {
  /** Why the SIP server is out of reach; undefined while it is not. */
  readonly serverProblem: () => string | undefined;
}

/**
 * Probe of one trunk.
 *
 * The proxy counts as alive until two requests in a row remain unanswered. Every SIP response counts, also 401, 404
 * and 405; except 503, with which both SIP servers report an unreachable proxy, and 408, which they send after 32 s
 * of silence. A late response counts too: the server retransmits over UDP for 32 s, so a proxy that comes back is
 * noticed within 4 s.
 *
 * Some carriers ignore OPTIONS. A silent proxy that has never answered is reported as down, but calls are still
 * tried, one at a time: a response to INVITE shows that it is alive and ignores OPTIONS.
 *
 * @see RFC 3261 section 11, and 8.1.3.1 for 408 and 503
 */
export class TrunkProbe {
  readonly #options: TrunkProbeOptions;
  /** Replaced where changed settings do not concern its line to the carrier. */
  trunk: Trunk;
  #isRunning = false;
  #isDown = false;
  #misses = 0;
  /** Counts the requests: only the newest can be missed. */
  #newest = 0;
  #problem = '';
  /** Whether the proxy has answered OPTIONS, so that silence is significant. */
  #hasAnswered = false;
  /** It has answered INVITE and never OPTIONS. */
  #ignoresOptions = false;
  #isSilent = false;
  #stopTimer: () => void = () => {};

  constructor(options: TrunkProbeOptions) {
    this.#options = options;
    this.trunk = options.trunk;
  }

  /** Asks soon, and again at each interval. Call it again when the server has been out of reach. */
  start(): void {
    if (this.trunk.optionsIntervalSeconds === 0) return;
    this.#isRunning = true;
    this.#askIn(FIRST_MS_MAX * this.#options.random());
  }

  /** Stops until `start`; keeps the state. Safe to call twice. */
  suspend(_why?: string): void {
    this.#isRunning = false;
    this.#stopTimer();
  }

  async stop(): Promise<void> {
    this.suspend();
  }

  report(): CarrierReport {
    const { trunk } = this;
    const { serverProblem } = this.#options;
    const ofServer = serverProblem();
    const problem = ofServer ?? (this.#isDown ? this.#problem : undefined);
    const state = problem ?? `calls go to ${hostPortOf(trunk.proxy)}, without registration`;
    const remark = ofServer === undefined && this.#ignoresOptions ? '; it ignores OPTIONS' : '';
    return { name: `trunk ${trunk.name}`, isReady: problem === undefined, state: state + remark };
  }

  /** Whether the proxy counts as down only for its silence to OPTIONS, which it has never answered. */
  get isUncertain(): boolean {
    const isReachable = this.#options.serverProblem() === undefined;
    return isReachable && this.#isDown && this.#isSilent && !this.#hasAnswered;
  }

  /** The proxy has answered an INVITE. */
  inviteAnswered(): void {
    this.#ignoresOptions = !this.#hasAnswered && (this.#ignoresOptions || this.#misses > 0);
    this.#alive();
  }

  status(): TrunkStatus {
    const { isReady, state: detail } = this.report();
    return { state: isReady ? 'ready' : 'failed', detail, expiresAt: null };
  }

  #askIn(delayMs: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(delayMs, () => this.#ask());
  }

  #askLater(): void {
    const { random } = this.#options;
    this.#askIn(this.trunk.optionsIntervalSeconds * 1000 * (1 + JITTER * (2 * random() - 1)));
  }

  #ask(): void {
    const { trunk } = this;
    const { clock, srf } = this.#options;
    this.#newest += 1;
    const request = this.#newest;
    const silence = `no answer to OPTIONS from ${hostPortOf(trunk.proxy)}`;
    this.#stopTimer = clock.after(ANSWER_MS_MAX, () => this.#missed(silence, true));
    const uri = registrarUriOf(trunk);
    const headers = { From: `<sip:${domainOf(trunk)}>`, To: `<${uri}>` };
    const parts = { method: 'OPTIONS', headers, proxy: proxyUriOf(trunk) };
    try {
      srf.request(uri, parts, (error, sent?: SrfSentRequest) => {
        if (sent !== undefined)
          sent.on('response', ({ status }) => this.#answered(status, request));
        else this.#refused(`the SIP server cannot send OPTIONS: ${reasonOf(error)}`, request);
      });
    } catch (error) {
      // Without a connection to the server, drachtio-srf throws.
      this.#refused(`the SIP server cannot send OPTIONS: ${reasonOf(error)}`, request);
    }
  }

  #answered(status: number, request: number): void {
    if (!this.#isRunning || status === 408) return;
    const { trunk } = this;
    if (status === 503) {
      this.#refused(
        `${hostPortOf(trunk.proxy)} is out of reach or answers OPTIONS with 503`,
        request,
      );
      return;
    }
    this.#hasAnswered = true;
    this.#ignoresOptions = false;
    this.#alive();
    this.#askLater();
  }

  #alive(): void {
    if (this.#isDown) this.#options.log.info({ trunk: this.trunk.name }, 'trunk answers again');
    this.#isDown = false;
    this.#misses = 0;
  }

  #refused(why: string, request: number): void {
    if (this.#isRunning && request === this.#newest) this.#missed(why, false);
  }

  #missed(why: string, isSilent: boolean): void {
    // Later responses to this request count as late.
    this.#newest += 1;
    if (isSilent && this.#ignoresOptions) {
      this.#askLater();
      return;
    }
    this.#misses += 1;
    this.#problem = why;
    this.#isSilent = isSilent;
    if (this.#misses < MISSES_MAX) {
      this.#askIn(RETRY_MS);
      return;
    }
    if (!this.#isDown) this.#options.log.warn({ trunk: this.trunk.name, why }, 'trunk is down');
    this.#isDown = true;
    this.#askLater();
  }
}
