/** Source access control: decides by the source address which hosts may call, and counts strangers, the hosts that no trunk knows. */
import type { Clock } from '../../../lib/clock.ts';
import { rangeOfAddress } from '../../../lib/local-routes.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { PhoneRegistrar } from '../../phones/phone-registrar.ts';
import type { TrunkTable } from '../../trunks/trunk-table.ts';
import type { SrfAnswer, SrfRequest } from './srf.ts';

/** Retry-After of a refusal on shutdown. */
const RETRY_AFTER_SECONDS = 30;

const ALLOWED_METHODS = 'INVITE, ACK, BYE, CANCEL, OPTIONS, INFO, UPDATE, NOTIFY, PRACK, MESSAGE';

/** Accepts or refuses calls, messages and OPTIONS by their source address; refuses them while the server drains. */
export class SourceAcl {
  readonly #mayRing: (sourceAddress: string) => boolean;
  readonly #strangers: Strangers;
  readonly #phones: Pick<PhoneRegistrar, 'serves'> | undefined;
  #isDraining = false;

  constructor(options: {
    readonly table: TrunkTable;
    /** Replaces the source check of the trunks. */
    readonly mayRing?: (sourceAddress: string) => boolean;
    /** Telephones: refused without a password, but no strangers. */
    readonly phones?: Pick<PhoneRegistrar, 'serves'>;
    /** Counts refused sources. */
    readonly strangers?: Strangers;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    const { table, mayRing = (sourceAddress) => table.isAllowed(sourceAddress) } = options;
    this.#mayRing = mayRing;
    this.#phones = options.phones;
    this.#strangers = options.strangers ?? new Strangers({ ...options, isKnown: mayRing });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  drain(): void {
    this.#isDraining = true;
  }

  stop(): void {
    this.#isDraining = true;
    this.#strangers.stop();
  }

  /** Whether the source may call by its address alone. */
  allows({ source_address }: SrfRequest): boolean {
    return this.#mayRing(source_address);
  }

  /**
   * Status to refuse an INVITE with; undefined to accept it.
   *
   * @param isAdmitted whether its sender has proved that it may call.
   */
  refusalOf(request: SrfRequest, isAdmitted = false): number | undefined {
    if (!isAdmitted && !this.#isAllowed(request)) return 403;
    if (this.#isDraining) return 503;
    // A dialog that we do not know, such as one of a process before this one. RFC 3261, 12.2.2.
    if (!request.isNewInvite) return 481;
    return request.has('contact') ? undefined : 400;
  }

  /** Status to refuse a MESSAGE with; undefined to accept it, null to leave it without an answer. */
  refusalOfMessage(request: SrfRequest): number | null | undefined {
    if (this.#ignores(request)) return null;
    if (!this.#isAllowed(request)) return 403;
    return this.#isDraining ? 503 : undefined;
  }

  /** Carriers ask by OPTIONS whether to send calls here. */
  answerOptions(request: SrfRequest, answer: SrfAnswer): void {
    if (this.#ignores(request)) return;
    const isAllowed = this.#isAllowed(request);
    if (!isAllowed || this.#isDraining) refuse(answer, isAllowed ? 503 : 403);
    else answer.send(200, { headers: { Allow: ALLOWED_METHODS, Accept: 'application/sdp' } });
  }

  /** Refuses requests that begin no call, such as REGISTER: drachtio-server would answer strangers itself. */
  refuseOther(request: SrfRequest, answer: SrfAnswer): void {
    if (this.#ignores(request)) return;
    const status = request.method === 'NOTIFY' || request.method === 'INFO' ? 481 : 405;
    if (!this.#isAllowed(request)) refuse(answer, 403);
    else answer.send(status, { headers: status === 405 ? { Allow: ALLOWED_METHODS } : {} });
  }

  #isAllowed({ source_address }: SrfRequest): boolean {
    const isAllowed = this.#mayRing(source_address);
    if (!isAllowed && !this.#phones?.serves(source_address)) this.#strangers.count(source_address);
    return isAllowed;
  }

  /**
   * Whether the request of a stranger gets no answer; counts it then. Not for INVITE: drachtio-server has answered 100
   * already, and drachtio-srf keeps each INVITE until its final response. It keeps no state of other requests,
   * and drachtio-server forgets them after 64 s.
   */
  #ignores({ source_address }: SrfRequest): boolean {
    const isSilenced = !this.#mayRing(source_address) && this.#strangers.isSilenced(source_address);
    if (isSilenced) this.#strangers.count(source_address);
    return isSilenced;
  }
}

/** Refuses. A 503 carries Retry-After, without which carriers treat it as a 500. RFC 3261, 21.5.4. */
export function refuse(
  answer: SrfAnswer,
  status: number,
  retryAfterSeconds = status === 503 ? RETRY_AFTER_SECONDS : undefined,
): void {
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  answer.send(status, { headers });
}

/** Length limit of the text of a Warning header. */
const WARNING_CHARACTERS_MAX = 300;

/**
 * Refuses a session description. With 400 and 488 it says why: the carrier's log and our trace show it. Other statuses are
 * faults of ours. RFC 3261, 20.43.
 */
export function refuseSession(answer: SrfAnswer, status: number, why: string): void {
  const text = why.replace(/[^\x20-\x7e]|["\\]/g, ' ').slice(0, WARNING_CHARACTERS_MAX);
  if (status !== 400 && status !== 488) refuse(answer, status);
  else answer.send(status, { headers: { Warning: `399 offhook "${text}"` } });
}

/** A scanner cannot fill the disk. */
const PAUSE_MS = 10_000;

/** Refusals of one source within a pause: enough for a carrier's engineer to see, too few to be worth forging a source for. */
const REFUSALS_MAX = 10;

/** Sources that are counted one by one within a pause; the requests of others count in total only. */
const SOURCES_MAX = 1000;

/** Sources that one line of the log names. */
const SOURCES_LOGGED = 5;

/** Requests of strangers since the start, by the network of their source. */
export type StrangerCounts = Readonly<Record<ReturnType<typeof rangeOfAddress>, number>>;

interface StrangersOptions {
  /** Whether a trunk knows the source address of a packet. */
  readonly isKnown: (sourceAddress: string) => boolean;
  /** Whether strangers are refused; else they get no answer. Default: they are refused. */
  readonly isPolite?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tells strangers from carriers; counts their requests by network and by source, and limits their log lines and refusals. */
export class Strangers {
  readonly #options: StrangersOptions;
  readonly #counts = { loopback: 0, private: 0, public: 0, never: 0 };
  /** Requests by source address since the last line of the log. */
  #unlogged = new Map<string, number>();
  #unloggedCount = 0;
  /** Requests by source address in this pause. */
  #asked = new Map<string, number>();
  #stopTimer: (() => void) | undefined;

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  get counts(): StrangerCounts {
    return this.#counts;
  }

  /** @param sourceAddress source IP address of the packet, never one from a header. */
  isStranger(sourceAddress: string): boolean {
    return !this.#options.isKnown(sourceAddress);
  }

  /** Whether a source gets no answer: a stranger, unless strangers are refused and this one has not had its refusals yet. */
  isSilenced(sourceAddress: string): boolean {
    if (!this.isStranger(sourceAddress)) return false;
    if (this.#options.isPolite === false) return true;
    const asked = this.#asked.get(sourceAddress);
    return asked === undefined ? this.#asked.size >= SOURCES_MAX : asked >= REFUSALS_MAX;
  }

  /** Counts a request that is ignored or refused. The first is logged at once, requests of the next ten seconds together. */
  count(sourceAddress: string): void {
    this.#counts[rangeOfAddress(sourceAddress)] += 1;
    this.#unloggedCount += 1;
    addTo(this.#unlogged, sourceAddress);
    addTo(this.#asked, sourceAddress);
    if (this.#stopTimer === undefined) this.#write();
  }

  /** Safe to call twice. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #write(): void {
    const { clock, log } = this.#options;
    const bySource = [...this.#unlogged].sort(([, one], [, other]) => other - one);
    const busiest = bySource.slice(0, SOURCES_LOGGED);
    log.warn(
      {
        count: this.#unloggedCount,
        sources: this.#unlogged.size,
        busiest: busiest.map(([sourceAddress, count]) => ({ sourceAddress, count })),
      },
      'SIP from a host that no trunk allows: if it is your carrier, add it to allowedSources',
    );
    this.#unlogged = new Map();
    this.#unloggedCount = 0;
    this.#stopTimer = clock.after(PAUSE_MS, () => {
      this.#stopTimer = undefined;
      this.#asked = new Map();
      if (this.#unloggedCount > 0) this.#write();
    });
  }
}

function addTo(counts: Map<string, number>, sourceAddress: string): void {
  const count = counts.get(sourceAddress);
  if (count === undefined && counts.size >= SOURCES_MAX) return;
  counts.set(sourceAddress, (count ?? 0) + 1);
}
