/** Registrations and probes of all trunks, as seen from one SIP server. */
import { randomUUID } from 'node:crypto';
import type { TrunkStatus } from '../../../domain/dialing/number-owner.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { CarrierReport } from '../../carrier.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { AnswerChallenge } from '../leg/in-dialog-request.ts';
import type { OurContacts } from './our-contacts.ts';
import type { SrfLink } from './srf-link.ts';
import { TrunkProbe } from './trunk-probe.ts';
import { TrunkRegistration } from './trunk-registration.ts';

interface TrunkRegistrationsOptions {
  readonly link: SrfLink;
  readonly trunks: readonly Trunk[];
  readonly contacts: OurContacts;
  readonly answerChallenge?: AnswerChallenge;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps every trunk registered or probed while the SIP server is connected. */
export class TrunkRegistrations {
  readonly #options: TrunkRegistrationsOptions;
  /** Registrations first, as in reports. */
  readonly #watches: readonly (TrunkRegistration | TrunkProbe)[];

  constructor(options: TrunkRegistrationsOptions) {
    const { clock, link, log, trunks } = options;
    this.#options = options;
    const parts = { srf: link.srf, clock, log, random: Math.random };
    const serverProblem = () => (link.isConnected ? undefined : link.problem);
    this.#watches = [
      ...trunks.filter(({ register }) => register).map((trunk) => this.#registrationOf(trunk)),
      ...trunks
        .filter(({ register }) => !register)
        .map((trunk) => new TrunkProbe({ ...parts, trunk, serverProblem })),
    ];
  }

  /** Registers and probes now, and periodically. */
  start(): void {
    for (const watch of this.#watches) watch.start();
  }

  /** Waits: the server is out of reach. */
  suspend(why: string): void {
    for (const watch of this.#watches) watch.suspend(why);
  }

  /** Takes all registrations back. Safe to call twice. */
  async stop(): Promise<void> {
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

  #watchOf(trunk: Trunk): TrunkRegistration | TrunkProbe | undefined {
    return this.#watches.find((watch) => watch.trunk === trunk);
  }

  #registrationOf(trunk: Trunk): TrunkRegistration {
    const { clock, log, link, contacts, answerChallenge } = this.#options;
    return new TrunkRegistration({
      srf: link.srf,
      trunk,
      contactHostPort: () => contacts.ofTrunk(trunk),
      newCallId: randomUUID,
      clock,
      log,
      answerChallenge,
    });
  }
}
