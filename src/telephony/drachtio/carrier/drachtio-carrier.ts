/** The telephone network by SIP trunks: call control over drachtio-srf, embedded engine or real server alike. */
import type { TrunkStatus } from '../../../domain/dialing/trunk.ts';
import { within } from '../../../lib/clock.ts';
import { ownAddressCheck } from '../../../lib/local-routes.ts';
import { calledNumberOf, numberOfUri } from '../../call-headers.ts';
import {
  type Carrier,
  CarrierError,
  type CarrierReport,
  type IncomingCall,
  type TextMessage,
  type TextOutcome,
  type TrunkRoute,
} from '../../carrier.ts';
import type { MediaGateway } from '../../media-gateway.ts';
import type { PhoneRegistrar } from '../../phones/phone-registrar.ts';
import type { Phone } from '../../phones/phones.ts';
import type { AdvertisedAddresses } from '../../trunks/our-addresses.ts';
import { TrunkTable } from '../../trunks/trunk-table.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { AnswerChallenge } from '../leg/in-dialog-request.ts';
import { SrfIncomingCall } from '../leg/incoming-call.ts';
import type { SrfLeg } from '../leg/srf-leg.ts';
import { replaceFarEnd, replacementOf } from '../transfer/replaces.ts';
import type { OpenDialogJournal, ServerConnection } from './open-dialog-journal.ts';
import { type EndInvite, invitesOver, OrphanedLegs } from './orphaned-calls.ts';
import { OurContacts } from './our-contacts.ts';
import {
  OutgoingCalls,
  type OutgoingCallsOptions,
  type OutgoingRequest,
  type PlacedCall,
  TrunkChannels,
} from './outgoing-calls.ts';
import { refuse, SourceAcl, type Strangers } from './source-acl.ts';
import { reasonOf, type SrfAnswer, type SrfRequest } from './srf.ts';
import { SrfLink, type SrfLinkOptions } from './srf-link.ts';
import { TextMessages } from './text-messages.ts';
import { TrunkRegistrations } from './trunk-registrations.ts';

/** Time limit of BYE, CANCEL and un-REGISTER on shutdown. */
const GOODBYE_MS = 2_000;

/** Requests that are refused here, because drachtio-server would answer them itself. */
const OTHER_METHODS = ['subscribe', 'publish', 'notify', 'info'] as const;

/** Constructor parameters of `DrachtioCarrier`. */
export interface DrachtioCarrierOptions extends SrfLinkOptions {
  readonly trunks: readonly Trunk[];
  readonly media: MediaGateway;
  /** Our addresses for far ends; default: the local one. */
  readonly addresses?: AdvertisedAddresses;
  /** Answers challenges that the server passes on; the embedded engine answers them itself. */
  readonly answerChallenge?: AnswerChallenge;
  /** Replaces the source check of the trunks. */
  readonly mayRing?: (sourceAddress: string) => boolean;
  /** Telephones that register and call with a password; shared by all servers. */
  readonly phones?: PhoneRegistrar;
  /** Counts sources that are refused; shared by all servers. */
  readonly strangers?: Strangers;
  /** Name of the server in reports; `sip` when not given. */
  readonly name?: string;
  /** Shared among several servers, so that a trunk's `maxCalls` holds for all of them together. */
  readonly channels?: TrunkChannels;
  /** Journal of open dialogs, for the next process. */
  readonly journal?: OpenDialogJournal;
  /** Ends orphaned INVITEs, if the engine itself reports each INVITE to `journal`; default: by drachtio's protocol. */
  readonly endInvite?: EndInvite;
  /** Whether trunks register from this server, asked at each connect; default: always. */
  readonly mayRegister?: () => boolean;
  /** Places second calls for transfers if no trunk of this carrier can; such calls never use REFER. */
  readonly callThrough?: OutgoingCallsOptions['callThrough'];
  /** Sound for callers while a third party is called; default: its ringing tone. */
  readonly holdMusic?: Int16Array | undefined;
  /** Takes text messages of carriers; without it they are refused. */
  readonly onText?: (message: TextMessage) => Promise<void>;
  /** Called when the connection is lost. */
  readonly onLost?: () => void;
}

/** Carrier over one SIP server. */
export class DrachtioCarrier implements Carrier {
  /** Options without the first trunks, which later ones replace. */
  readonly #options: Omit<DrachtioCarrierOptions, 'trunks'>;
  readonly #table: TrunkTable;
  readonly #channels: TrunkChannels;
  readonly #link: SrfLink;
  readonly #contacts: OurContacts;
  readonly #registrations: TrunkRegistrations;
  readonly #sourceAcl: SourceAcl;
  /** Incoming calls from their INVITE to their end. */
  readonly #incoming = new Set<SrfIncomingCall>();
  readonly #outgoing: OutgoingCalls;
  readonly #orphans: OrphanedLegs;
  readonly #texts: TextMessages;
  readonly #connection: ServerConnection;
  /** Resolved at the end of the next call. */
  #waitingForEnd: (() => void)[] = [];
  #onIncoming: (call: IncomingCall) => void = () => {};

  constructor({ trunks, ...options }: DrachtioCarrierOptions) {
    this.#options = options;
    this.#table = new TrunkTable(trunks, ownAddressCheck(options.clock));
    this.#channels = options.channels ?? new TrunkChannels();
    this.#sourceAcl = new SourceAcl({ ...options, table: this.#table });
    this.#orphans = new OrphanedLegs(options);
    this.#contacts = new OurContacts(options);
    const contacts = this.#contacts;
    this.#link = new SrfLink(options, {
      listening: (hostPorts) => contacts.serverListens(hostPorts),
      connected: () => this.#onConnected(),
      lost: () => this.#onLost(),
    });
    const { srf } = this.#link;
    const { endInvite = invitesOver(srf, options.clock) } = options;
    this.#connection = { name: this.#name, srf, endInvite };
    this.#outgoing = new OutgoingCalls({
      ...options,
      srf,
      contacts,
      server: this.#name,
      isReportedByEngine: options.endInvite !== undefined,
      trunksFor: (from) => this.trunksFor(from),
      trunkNamed: (name) => this.#table.trunks.find((trunk) => trunk.name === name),
      mayTake: (trunk) => this.#routeThrough(trunk).free > 0,
      channels: this.#channels,
      onProxyResponse: (trunk) => this.#registrations.inviteAnswered(trunk),
      onOver: () => this.#onCallOver(),
    });
    this.#texts = new TextMessages({ ...options, srf, sourceAcl: this.#sourceAcl });
    this.#registrations = new TrunkRegistrations({
      ...options,
      trunks,
      contacts,
      link: this.#link,
    });
    srf.invite((request, answer) => this.#onInvite(request, answer));
    srf.options((request, answer) => this.#sourceAcl.answerOptions(request, answer));
    srf.register((request, answer) => this.#onRegister(request, answer));
    for (const method of OTHER_METHODS) {
      srf[method]((request, answer) => this.#sourceAcl.refuseOther(request, answer));
    }
  }

  async start(onIncoming: (call: IncomingCall) => void): Promise<void> {
    this.#onIncoming = onIncoming;
    if (this.#table.trunks.length === 0 && this.#options.mayRing === undefined) {
      this.#options.log.warn(
        {},
        'no SIP trunk is set up: only calls from this machine are accepted',
      );
    }
    await this.#link.start();
  }

  /** Whether the server takes our commands. */
  get isConnected(): boolean {
    return this.#link.isConnected;
  }

  /** Registers the trunks from this server, when it was another's job so far. */
  register(): void {
    if (this.#link.isConnected) this.#registrations.start();
  }

  /** The connection of the REGISTER with that Call-ID is gone: its trunk registers again. */
  registrationLost(callId: string): void {
    this.#registrations.connectionLost(callId);
  }

  /** Uses these trunks for new calls from now on; see `TrunkRegistrations.useTrunks`. Calls in progress go on. */
  async useTrunks(trunks: readonly Trunk[]): Promise<void> {
    this.#table.useTrunks(trunks);
    await this.#registrations.useTrunks(trunks);
  }

  drain(): void {
    this.#sourceAcl.drain();
  }

  /** Resolves when no call is left, including calls between two joined parties. */
  async whenEmpty(): Promise<void> {
    while (this.#incoming.size > 0 || this.#outgoing.all.length > 0) {
      await new Promise<void>((resolve) => this.#waitingForEnd.push(resolve));
    }
  }

  async stop(): Promise<void> {
    this.#sourceAcl.drain();
    const ended = Promise.allSettled([
      this.#registrations.stop(),
      ...[...this.#incoming, ...this.#outgoing.all].map((call) => call.end()),
    ]);
    // Peers that answer do so at once; the others are not waited for.
    await within(this.#options.clock, GOODBYE_MS, ended).catch(() => undefined);
    this.#options.journal?.lost(this.#connection);
    this.#link.stop();
    this.#orphans.stop();
    this.#sourceAcl.stop();
  }

  /** @throws {CarrierError} as every carrier does, and 503 while the server is out of reach. */
  place(request: OutgoingRequest, trunks = this.trunksFor(request.from)): PlacedCall {
    const { isConnected, problem } = this.#link;
    // A hung server would execute the command when it resumes.
    if (!isConnected) throw new CarrierError(`Cannot place the call: ${problem}`, 503);
    return this.#outgoing.place(request, trunks);
  }

  /** Sends a text message once, through the first trunk with its number. Never rejects. */
  sendText(message: TextMessage): Promise<TextOutcome> {
    const { isConnected, problem } = this.#link;
    // A hung server would execute the command when it resumes.
    if (isConnected) return this.#texts.send(message, this.trunksFor(message.from)[0]);
    return Promise.resolve({ kind: 'refused', sipStatus: null, reason: problem });
  }

  /** Trunks that may call from this number, in the order in which they are tried: those that are down come last. */
  trunksFor(from: string): readonly Trunk[] {
    const trunks = this.#table.allOfOutgoing(from);
    return trunks.length < 2 ? trunks : this.#registrations.bestFirst(trunks);
  }

  /** Route through the first trunk that has a free line; without one, through the first of all. */
  routeFor(from: string): TrunkRoute | undefined {
    const routes = this.trunksFor(from).map((trunk) => this.#routeThrough(trunk));
    return routes.find(({ free }) => free > 0) ?? routes[0];
  }

  reports(): readonly CarrierReport[] {
    return [this.listenerReport(), ...this.trunkReports()];
  }

  /** Report on the server alone. */
  listenerReport(): CarrierReport {
    const { isConnected, problem } = this.#link;
    const places = this.#contacts.listening.map(
      ({ transport, hostPort }) => `${transport} ${hostPort}`,
    );
    const listening = places.length === 0 ? 'ready' : `listening on ${places.join(' and ')}`;
    return {
      name: this.#name,
      isReady: isConnected && !this.#sourceAcl.isDraining,
      state: isConnected ? listening : problem,
    };
  }

  /** How the trunk is, as it is reached from this server. */
  trunkStatusOf(trunk: Trunk): TrunkStatus {
    return this.#registrations.statusOf(trunk);
  }

  /** Reports on the trunks, as they are reached from this server. */
  trunkReports(): readonly CarrierReport[] {
    return this.#registrations.reports();
  }

  #routeThrough(trunk: Trunk): TrunkRoute {
    const isUncertain = this.#registrations.isUncertain(trunk);
    const problem = isUncertain ? undefined : this.#registrations.problemOf(trunk);
    return this.#channels.routeThrough(trunk, { problem, isUncertain });
  }

  get #name(): string {
    return this.#options.name ?? 'sip';
  }

  #onRegister(request: SrfRequest, answer: SrfAnswer): void {
    const { phones } = this.#options;
    if (!phones?.serves(request.source_address)) {
      this.#sourceAcl.refuseOther(request, answer);
      return;
    }
    if (this.#sourceAcl.isDraining) {
      refuse(answer, 503);
      return;
    }
    const { status, headers } = phones.register(request);
    answer.send(status, { headers: { ...headers } });
  }

  /**
   * A source of telephones that no trunk allows has to prove who it is, call by call; on this machine without a trunk a caller
   * with the name of a telephone, which is served as one only then.
   */
  #onInvite(request: SrfRequest, answer: SrfAnswer): void {
    const { phones } = this.#options;
    const isByTrunk = this.#sourceAcl.allows(request);
    const isNamed = this.#table.trunks.length === 0 && phones?.isNamedIn(request) === true;
    const isAsked = request.isNewInvite && (!isByTrunk || isNamed);
    if (!isAsked || !phones?.serves(request.source_address)) {
      this.#take(request, answer);
      return;
    }
    const admission = phones.admit(request);
    if ('phone' in admission) this.#take(request, answer, admission.phone);
    else answer.send(admission.answer.status, { headers: { ...admission.answer.headers } });
  }

  #take(request: SrfRequest, answer: SrfAnswer, phone?: Phone): void {
    const trunk = this.#table.ofIncoming(request.source_address, numberOfUri(request.uri));
    const refusal = this.#sourceAcl.refusalOf(request, phone !== undefined);
    const replacement = replacementOf(request, trunk, this.#legs);
    if (refusal === undefined && replacement.kind === 'refused') {
      answer.send(replacement.sipStatus, { headers: replacement.headers });
      return;
    }
    const replaced = replacement.kind === 'replaces' ? replacement.leg : undefined;
    const isReplacing = replaced !== undefined;
    const release = refusal === undefined ? this.#channels.take(trunk, isReplacing) : undefined;
    if (release === undefined) {
      refuse(answer, refusal ?? 503);
      return;
    }
    const call: SrfIncomingCall = new SrfIncomingCall({
      ...this.#options,
      srf: this.#link.srf,
      server: this.#name,
      request,
      answer,
      trunk,
      phone,
      contacts: this.#contacts,
      callSecond: this.#outgoing.secondFor(calledNumberOf(request, trunk), trunk),
      inPlaceOf: replaced?.endpoint,
      acceptedTransfers: this.#outgoing.movesOf(calledNumberOf(request, trunk), trunk),
      ...((this.#options.callThrough || phone) && { transferBy: 'bridge' as const }),
      onOver: () => {
        release();
        this.#incoming.delete(call);
        this.#onCallOver();
      },
    });
    this.#incoming.add(call);
    if (replaced === undefined) this.#announce(call);
    else void replaceFarEnd(replaced, call, this.#options.log);
  }

  /** Legs of answered calls, both ways. */
  get #legs(): readonly SrfLeg[] {
    return [...this.#incoming, ...this.#outgoing.all].flatMap(({ leg }) => leg ?? []);
  }

  #onCallOver(): void {
    const waiting = this.#waitingForEnd;
    this.#waitingForEnd = [];
    for (const tell of waiting) tell();
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
    const { log, journal, mayRegister } = this.#options;
    // The engine of calls from browsers listens nowhere.
    const level = this.#contacts.listening.length === 0 ? 'debug' : 'info';
    log[level]({ carrier: this.#name, state: this.listenerReport().state }, 'SIP is ready');
    journal?.connected(this.#connection);
    this.#orphans.connected();
    if (mayRegister?.() ?? true) this.register();
  }

  #onLost(): void {
    this.#registrations.suspend(this.#link.problem);
    this.#options.journal?.lost(this.#connection);
    this.#orphans.lost(this.#legs);
    for (const call of this.#outgoing.all) call.lost(this.#link.problem);
    for (const call of this.#incoming) call.lost();
    this.#options.onLost?.();
  }
}
