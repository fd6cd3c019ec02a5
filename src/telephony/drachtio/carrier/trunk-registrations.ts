/** Registrations and probes of all trunks, as seen from one SIP server. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { TrunkStatus } from '../../../domain/dialing/trunk.ts';
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
      const known = former.find((watch) => isSameLine(watch.trunk, trunk));
      known?.useTrunk(trunk);
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

  /** By name: the settings of a call's trunk may have changed since. */
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

/** Whether nothing has changed that the registration or the probe of a trunk is made of. */
function isSameLine(former: Trunk, trunk: Trunk): boolean {
  return isDeepStrictEqual(lineOf(former), lineOf(trunk));
}

function lineOf(trunk: Trunk): Partial<Trunk> {
  const { name, proxy, domain, username, password, realm, register, advertisedAddress } = trunk;
  const { registerExpiresSeconds, optionsIntervalSeconds } = trunk;
  return {
    ...{ name, proxy, domain, username, password, realm, register, advertisedAddress },
    ...{ registerExpiresSeconds, optionsIntervalSeconds },
  } as Partial<Trunk>;
}
