/** The telephone network by SIP trunks: call control over drachtio-srf, embedded engine or real server alike. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Carrier, CarrierReport, IncomingCall, OutgoingCall } from '../carrier.ts';
import { CarrierError } from '../carrier.ts';
import type { MediaGateway } from '../media-gateway.ts';
import { isDialable, numberOfUri } from '../number.ts';
import type { TrunkLine } from '../trunk-line.ts';
import { TrunkTable } from '../trunk-table.ts';
import type { Trunk } from '../trunks.ts';
import { Door, refuse } from './door.ts';
import { SrfIncomingCall } from './incoming-call.ts';
import { within } from './limit.ts';
import { SrfOutgoingCall } from './outgoing-call.ts';
import type { SrfAnswer, SrfAuth, SrfRequest } from './srf.ts';
import { reasonOf } from './srf.ts';
import { SrfLink } from './srf-link.ts';
import { hostPortOf } from './trunk-address.ts';
import { TrunkLines } from './trunk-lines.ts';
import { TrunkRegistration } from './trunk-registration.ts';

/** How long the last words of a server that stops may take. */
const GOODBYE_MS = 2_000;

export interface DrachtioCarrierOptions {
  /** Where drachtio's client protocol is served. */
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly trunks: readonly Trunk[];
  readonly media: MediaGateway;
  /**
   * Who answers the carriers' challenges: the server, as the embedded engine does, or drachtio-srf (MD5 alone),
   * where a real drachtio server passes them on.
   */
  readonly challengesAnsweredBy: 'server' | 'client';
  readonly clock: Clock;
  readonly log: Logger;
}

export class DrachtioCarrier implements Carrier {
  readonly #options: DrachtioCarrierOptions;
  readonly #table: TrunkTable;
  readonly #lines = new TrunkLines();
  readonly #link: SrfLink;
  readonly #registrations: readonly TrunkRegistration[];
  readonly #door: Door;
  /** Calls from their first sign to their last, answered or not. */
  readonly #incoming = new Set<SrfIncomingCall>();
  readonly #outgoing = new Set<SrfOutgoingCall>();
  #onIncoming: (call: IncomingCall) => void = () => {};

  constructor(options: DrachtioCarrierOptions) {
    this.#options = options;
    this.#table = new TrunkTable(options.trunks);
    this.#door = new Door({ ...options, table: this.#table });
    this.#link = new SrfLink(options, {
      connected: () => this.#onConnected(),
      lost: () => this.#onLost(),
    });
    this.#registrations = options.trunks
      .filter(({ register }) => register)
      .map((trunk) => this.#registrationOf(trunk));
    this.#link.srf.invite((request, answer) => this.#onInvite(request, answer));
    this.#link.srf.options((request, answer) => this.#door.answerOptions(request, answer));
  }

  async start(onIncoming: (call: IncomingCall) => void): Promise<void> {
    this.#onIncoming = onIncoming;
    if (this.#table.trunks.length === 0) {
      this.#options.log.warn({}, 'no SIP trunk is set up: only this machine itself may ring');
    }
    await this.#link.start();
  }

  drain(): void {
    this.#door.drain();
  }

  async stop(): Promise<void> {
    this.#door.drain();
    const ended = Promise.allSettled([
      ...this.#registrations.map((registration) => registration.stop()),
      ...[...this.#incoming, ...this.#outgoing].map((call) => call.end()),
    ]);
    // Peers that agree do so at once; the others have been told, and are not waited for.
    await within(this.#options.clock, GOODBYE_MS, ended).catch(() => undefined);
    this.#link.stop();
    this.#door.stop();
  }

  place({
    from,
    to,
    ringingTimeoutMs,
  }: {
    readonly from: string;
    readonly to: string;
    readonly ringingTimeoutMs: number;
  }): OutgoingCall {
    const trunk = this.#table.ofOutgoing(from);
    // Numbers stay out of the messages, since errors are logged.
    if (trunk === undefined) {
      throw new CarrierError('Cannot place the call: no trunk has the number it is from', 404);
    }
    if (!isDialable(to)) throw new CarrierError('Cannot place the call: to no number', 484);
    const release = this.#lines.take(trunk);
    if (release === undefined) {
      throw new CarrierError(
        `Cannot call through trunk "${trunk.name}": all lines are in use`,
        503,
      );
    }
    const { media, clock, log } = this.#options;
    const call: SrfOutgoingCall = new SrfOutgoingCall({
      srf: this.#link.srf,
      trunk,
      from,
      to,
      callId: randomUUID(),
      ringingTimeoutMs,
      media,
      clock,
      log,
      auth: this.#authOf(trunk),
      onOver: () => {
        release();
        this.#outgoing.delete(call);
      },
    });
    this.#outgoing.add(call);
    return call;
  }

  hasTrunkFor(from: string): boolean {
    return this.#table.ofOutgoing(from) !== undefined;
  }

  /** The line that calls from this number take; undefined when no trunk has the number. */
  lineOf(from: string): TrunkLine | undefined {
    const trunk = this.#table.ofOutgoing(from);
    if (trunk === undefined) return undefined;
    const registration = this.#registrations.find(({ trunk: own }) => own === trunk);
    const isReady = registration?.report().isReady ?? this.#link.isConnected;
    return this.#lines.lineOf(trunk, isReady);
  }

  reports(): readonly CarrierReport[] {
    const isStatic = ({ register }: Trunk) => !register;
    return [
      this.#listenerReport(),
      ...this.#registrations.map((registration) => registration.report()),
      ...this.#table.trunks.filter(isStatic).map(({ name, proxy }) => ({
        name: `trunk ${name}`,
        isReady: this.#link.isConnected,
        state: `calls go to ${hostPortOf(proxy)}, without registration`,
      })),
    ];
  }

  #onInvite(request: SrfRequest, answer: SrfAnswer): void {
    const trunk = this.#table.ofIncoming(request.source_address, numberOfUri(request.uri));
    const refusal = this.#door.refusalOf(request);
    const release = refusal === undefined ? this.#lines.take(trunk) : undefined;
    if (release === undefined) {
      refuse(answer, refusal ?? 503);
      return;
    }
    const { media, clock, log } = this.#options;
    const call: SrfIncomingCall = new SrfIncomingCall({
      srf: this.#link.srf,
      request,
      answer,
      trunk,
      media,
      clock,
      log,
      onOver: () => {
        release();
        this.#incoming.delete(call);
      },
    });
    this.#incoming.add(call);
    this.#announce(call);
  }

  #announce(call: SrfIncomingCall): void {
    try {
      this.#onIncoming(call);
    } catch (error) {
      this.#options.log.error({ why: reasonOf(error) }, 'could not take an incoming call');
      call.reject(500);
    }
  }

  #onConnected(): void {
    this.#options.log.info({ state: this.#listenerReport().state }, 'SIP is ready');
    for (const registration of this.#registrations) registration.start();
  }

  #onLost(): void {
    for (const registration of this.#registrations) registration.suspend(this.#link.problem);
    for (const call of this.#outgoing) call.fail(this.#link.problem, 503);
    for (const call of this.#incoming) call.cancelled();
  }

  #registrationOf(trunk: Trunk): TrunkRegistration {
    const { clock, log } = this.#options;
    return new TrunkRegistration({
      srf: this.#link.srf,
      trunk,
      contactHostPort: () => this.#contactHostPortFor(trunk),
      newCallId: randomUUID,
      clock,
      log,
      auth: this.#authOf(trunk),
    });
  }

  #contactHostPortFor({ proxy }: Trunk): string {
    const { addresses } = this.#link;
    const address =
      addresses.find(({ transport }) => transport === proxy.transport) ?? addresses[0];
    const suffix = proxy.transport === 'tcp' ? ';transport=tcp' : '';
    return `${address?.hostPort ?? 'localhost'}${suffix}`;
  }

  #authOf({ username, password }: Trunk): SrfAuth | undefined {
    const isOurs = this.#options.challengesAnsweredBy === 'client';
    return isOurs && username && password ? { username, password } : undefined;
  }

  #listenerReport(): CarrierReport {
    const { isConnected, addresses, problem } = this.#link;
    const places = addresses.map(({ transport, hostPort }) => `${transport} ${hostPort}`);
    return {
      name: 'sip',
      isReady: isConnected && !this.#door.isDraining,
      state: isConnected ? `listening on ${places.join(' and ')}` : problem,
    };
  }
}
