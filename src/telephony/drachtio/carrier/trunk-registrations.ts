/** Registrations and probes of all trunks, as seen from one SIP server. */
import { randomUUID } from 'node:crypto';
import type { TrunkStatus } from '../../../domain/dialing/number-owner.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { CarrierReport } from '../../carrier.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { AnswerChallenge } from '../leg/in-dialog-request.ts';
import { staticTrunkReport } from './carrier-reports.ts';
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
  readonly #registrations: readonly TrunkRegistration[];
  readonly #probes: readonly TrunkProbe[];

  constructor(options: TrunkRegistrationsOptions) {
    this.#options = options;
    this.#registrations = options.trunks
      .filter(({ register }) => register)
      .map((trunk) => this.#registrationOf(trunk));
    const { clock, link, log } = options;
    const parts = { srf: link.srf, clock, log, random: Math.random };
    this.#probes = options.trunks
      .filter(({ register }) => !register)
      .map((trunk) => new TrunkProbe({ ...parts, trunk }));
  }

  /** Registers and probes now, and periodically. */
  start(): void {
    for (const each of [...this.#registrations, ...this.#probes]) each.start();
  }

  /** Waits: the server is out of reach. */
  suspend(why: string): void {
    for (const registration of this.#registrations) registration.suspend(why);
    for (const probe of this.#probes) probe.stop();
  }

  /** Takes all registrations back. Safe to call twice. */
  async stop(): Promise<void> {
    for (const probe of this.#probes) probe.stop();
    await Promise.allSettled(this.#registrations.map((registration) => registration.stop()));
  }

  /** Reason why calls cannot use the trunk; undefined while they can. */
  problemOf(trunk: Trunk): string | undefined {
    const { state, detail } = this.statusOf(trunk);
    return state === 'ready' ? undefined : detail;
  }

  /** Whether a trunk that is down may be alive because its proxy may ignore OPTIONS: a call will show. */
  isUncertain(trunk: Trunk): boolean {
    return this.#options.link.isConnected && (this.#probeOf(trunk)?.isUncertain ?? false);
  }

  /** The trunk's proxy has answered an INVITE. */
  inviteAnswered(trunk: Trunk): void {
    this.#probeOf(trunk)?.inviteAnswered();
  }

  /** How the trunk is, as it is reached from this server. */
  statusOf(trunk: Trunk): TrunkStatus {
    const { isConnected, problem } = this.#options.link;
    const isOwn = ({ trunk: own }: { readonly trunk: Trunk }) => own === trunk;
    const registration = this.#registrations.find(isOwn);
    if (registration !== undefined) return registration.status();
    const probe = isConnected ? this.#probeOf(trunk) : undefined;
    return probe?.status() ?? { state: 'failed', detail: problem, expiresAt: null };
  }

  #probeOf(trunk: Trunk): TrunkProbe | undefined {
    return this.#probes.find((probe) => probe.trunk === trunk);
  }

  reports(): readonly CarrierReport[] {
    const { isConnected, problem } = this.#options.link;
    return [
      ...this.#registrations.map((registration) => registration.report()),
      ...this.#probes.map((probe) =>
        isConnected ? probe.report() : staticTrunkReport(probe.trunk, problem),
      ),
    ];
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
