/** Every trunk as it is reached from one SIP server: the ones to register, and the ones that need none. */
import { randomUUID } from 'node:crypto';
import type { TrunkStatus } from '../../domain/trunk-state.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { CarrierReport } from '../carrier.ts';
import type { Trunk } from '../trunks.ts';
import { staticTrunkReport } from './carrier-reports.ts';
import type { AnswerChallenge } from './challenge.ts';
import type { OurContacts } from './our-contacts.ts';
import type { SrfLink } from './srf-link.ts';
import { TrunkRegistration } from './trunk-registration.ts';

export interface TrunkRegistrationsOptions {
  readonly link: SrfLink;
  readonly trunks: readonly Trunk[];
  readonly contacts: OurContacts;
  readonly answerChallenge?: AnswerChallenge;
  readonly clock: Clock;
  readonly log: Logger;
}

export class TrunkRegistrations {
  readonly #options: TrunkRegistrationsOptions;
  readonly #registrations: readonly TrunkRegistration[];

  constructor(options: TrunkRegistrationsOptions) {
    this.#options = options;
    this.#registrations = options.trunks
      .filter(({ register }) => register)
      .map((trunk) => this.#registrationOf(trunk));
  }

  /** Registers now, and anew whenever needed. */
  start(): void {
    for (const registration of this.#registrations) registration.start();
  }

  /** Waits: the server is out of reach. */
  suspend(why: string): void {
    for (const registration of this.#registrations) registration.suspend(why);
  }

  /** Takes all registrations back. Safe to call twice. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#registrations.map((registration) => registration.stop()));
  }

  /** Why calls cannot go out through the trunk; undefined where they can. */
  problemOf(trunk: Trunk): string | undefined {
    const { state, detail } = this.statusOf(trunk);
    return state === 'ready' ? undefined : detail;
  }

  /** How the trunk is, as it is reached from this server. */
  statusOf(trunk: Trunk): TrunkStatus {
    const { isConnected, problem } = this.#options.link;
    const registration = this.#registrationWith(trunk);
    if (registration !== undefined) return registration.status();
    const detail = isConnected ? staticTrunkReport(trunk, true).state : problem;
    return { state: isConnected ? 'ready' : 'failed', detail, expiresAt: null };
  }

  reports(): readonly CarrierReport[] {
    const { trunks, link } = this.#options;
    return [
      ...this.#registrations.map((registration) => registration.report()),
      ...trunks
        .filter(({ register }) => !register)
        .map((trunk) => staticTrunkReport(trunk, link.isConnected)),
    ];
  }

  #registrationWith(trunk: Trunk): TrunkRegistration | undefined {
    return this.#registrations.find(({ trunk: own }) => own === trunk);
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
