/** Composition root: the telephone network, with the SIP and media sides that the settings choose. */
import { existsSync } from 'node:fs';
import { type Config, readConfig, readSettingsFile } from '../config/config.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import type { DialogStore } from '../domain/call/open-dialog.ts';
import type { StoredTrunks, TrunkCheck, TrunkCheckWatch, Trunks } from '../domain/dialing/trunk.ts';
import type { Clock } from '../lib/clock.ts';
import { ownAddressCheck } from '../lib/local-routes.ts';
import type { Logger } from '../lib/logger.ts';
import { CallTraces } from '../sip/call-traces.ts';
import type { EngineCounts } from '../sip/engine-stats.ts';
import {
  CarrierError,
  type CarrierReport,
  type IncomingCall,
  type TextMessage,
  type TextOutcome,
  type TrunkRoute,
} from '../telephony/carrier.ts';
import { CarrierPool, type CarrierPoolMember } from '../telephony/drachtio/carrier/carrier-pool.ts';
import { DrachtioCarrier } from '../telephony/drachtio/carrier/drachtio-carrier.ts';
import { OpenDialogJournal } from '../telephony/drachtio/carrier/open-dialog-journal.ts';
import { TrunkChannels } from '../telephony/drachtio/carrier/outgoing-calls.ts';
import { type StrangerCounts, Strangers } from '../telephony/drachtio/carrier/source-acl.ts';
import { openSrf } from '../telephony/drachtio/carrier/srf.ts';
import { PhoneRegistrar } from '../telephony/phones/phone-registrar.ts';
import { type Phone, parsePhones } from '../telephony/phones/phones.ts';
import type { OurAddresses } from '../telephony/trunks/our-addresses.ts';
import { NOT_STARTED, operatorTrunks, TrunkRegistry } from '../telephony/trunks/trunk-registry.ts';
import { secureProxyFor, TrunkTable } from '../telephony/trunks/trunk-table.ts';
import type { Trunk } from '../telephony/trunks/trunks.ts';
import { openAddresses, unreachableFault } from './addresses.ts';
import { readHoldMusic } from './hold-music.ts';
import { openMediaSide } from './media.ts';
import { openSipSide, type SipServer, type SipSide } from './sip.ts';
import { diagnose } from './sip-doctor-client.ts';
import { readTrunksFile } from './trunk-control.ts';

interface Options {
  readonly config: Config;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Carriers, SIP and media behind one face, the same for all four combinations of `TELEPHONY` and `MEDIA`. */
export class Telephony {
  readonly #options: Options;
  /** The operator's trunks, for REST. */
  readonly trunks: Trunks;
  /** SIP messages of calls in progress; empty where a remote server does the SIP. */
  readonly traces: CallTraces;
  /** Hold music for callers while a third party is called; undefined without a file of the operator's. */
  readonly holdMusic: Int16Array | undefined;
  readonly #sip: SipSide;
  readonly #media: ReturnType<typeof openMediaSide>;
  readonly #registry: TrunkRegistry;
  readonly #table: TrunkTable;
  /** Trunks whose registrations are being taken back. */
  #leaving: readonly Trunk[] = [];
  readonly #addresses: OurAddresses;
  readonly #strangers: Strangers;
  readonly #phones: PhoneRegistrar;
  readonly #channels = new TrunkChannels();
  #mediaStarted: Promise<void> | undefined;
  #carrier: CarrierPool | undefined;
  #onText: ((message: TextMessage) => Promise<void>) | undefined;

  /** @throws {Error} naming the file of trunks, telephones or hold music and what is wrong in it, or the trunk that cannot be reached. */
  constructor(options: Options) {
    this.#options = options;
    const trunks = readTrunksFile(options.config);
    this.holdMusic = readHoldMusic(options.config);
    warnOfClearKeys(trunks, options.log);
    this.#registry = new TrunkRegistry(trunks, unreachableFault(options.config));
    this.#table = new TrunkTable(trunks, ownAddressCheck(options.clock));
    this.trunks = operatorTrunks(this.#registry, {
      statusOf: (trunk) => this.#carrier?.trunkStatusOf(trunk),
      addressFor: (trunk) => this.#addresses.inUseFor(trunk),
      callsOn: (trunk) => this.#channels.inUse(trunk),
    });
    this.traces = new CallTraces(options);
    this.#addresses = openAddresses({
      ...options,
      trunks,
      onChange: () => this.#carrier?.register(),
    });
    this.#phones = new PhoneRegistrar({ ...options, phones: readPhonesFile(options.config) });
    this.#strangers = new Strangers({
      ...options,
      isKnown: (source) =>
        this.#table.isAllowed(source) ||
        this.#addresses.isProxy(source) ||
        this.#phones.serves(source),
      isPolite: options.config.SIP_STRANGERS === 'refuse',
    });
    const { traces } = this;
    const parts = { addresses: this.#addresses, strangers: this.#strangers, traces };
    this.#sip = openSipSide({
      ...options,
      ...parts,
      trunks: () => this.challengeable,
      onRegistrationLost: (callId) => this.#carrier?.registrationLost(callId),
    });
    this.#media = openMediaSide(options);
  }

  /** Starts the media threads; takes no calls yet. A second call waits for the same start. */
  startMedia(): Promise<void> {
    this.#mediaStarted ??= this.#media.start();
    return this.#mediaStarted;
  }

  /**
   * Takes calls when it resolves. Remote servers that cannot be reached are no failure: `reports` names them.
   *
   * @param dialogs journal of open dialogs; dialogs of an earlier process are ended.
   * @throws {Error} naming the address and port that could not be opened, or the server that refuses the secret.
   */
  async start(onIncoming: (call: IncomingCall) => void, dialogs: DialogStore): Promise<void> {
    const { clock, log } = this.#options;
    const orphans = await dialogs.all();
    const journal = new OpenDialogJournal({
      ...{ store: dialogs, orphans, clock, log },
      findProxy: (nextHop) => secureProxyFor(this.#registry.all, nextHop),
    });
    await Promise.all([this.startMedia(), this.#addresses.start()]);
    const servers = await this.#sip.start((sipCallId, sent) => journal.sent(sipCallId, sent));
    journal.useServers(servers.map(({ name }) => name));
    this.#carrier = new CarrierPool(
      await Promise.all(servers.map((server) => this.#member(server, journal))),
    );
    await this.#carrier.start(onIncoming);
  }

  /**
   * Puts the trunks of the database into effect, before the start or at any time after it, one time after the other.
   * Calls in progress go on. Resolves when registrations of trunks that are gone are taken back, after 2 s at most.
   */
  async useStored(stored: Pick<StoredTrunks, 'list'>): Promise<void> {
    const before = this.#registry.all;
    for (const problem of this.#registry.replaceStored(await stored.list())) {
      this.#options.log.warn({ problem }, 'a trunk was left out');
    }
    const { all } = this.#registry;
    const changed = all.filter((trunk) => !before.includes(trunk));
    warnOfClearKeys(changed, this.#options.log);
    this.#leaving = before.filter((trunk) => !all.includes(trunk));
    this.#table.useTrunks(all);
    this.#addresses.useTrunks(all);
    try {
      await this.#carrier?.useTrunks(all);
    } finally {
      this.#leaving = [];
    }
  }

  /** Checks a trunk step by step; undefined without a trunk of that name. */
  async check(name: string, watch?: TrunkCheckWatch): Promise<TrunkCheck | undefined> {
    const trunk = this.#registry.find(name);
    const options = { ...this.#options, addresses: this.#addresses, watch };
    return trunk && (await diagnose(trunk, options));
  }

  /** @throws {CarrierError} as every carrier does, and 503 before the start. */
  place(request: Parameters<CarrierPool['place']>[0]): ReturnType<CarrierPool['place']> {
    if (this.#carrier === undefined) {
      throw new CarrierError('Cannot place the call: telephony has not been started', 503);
    }
    return this.#carrier.place(request);
  }

  /** Sends a text message once, over the trunk with its number. Never rejects. */
  async sendText(message: TextMessage): Promise<TextOutcome> {
    if (this.#carrier !== undefined) return this.#carrier.sendText(message);
    return { kind: 'refused', sipStatus: null, reason: NOT_STARTED.detail };
  }

  /** Sets the handler of text messages from carriers; without it they are refused. */
  onText(listener: (message: TextMessage) => Promise<void>): void {
    this.#onText = listener;
  }

  /** Route of outgoing calls from this number, also before the start; undefined when no trunk has the number. */
  routeFor(from: string): TrunkRoute | undefined {
    if (this.#carrier !== undefined) return this.#carrier.routeFor(from);
    const trunk = this.#table.ofOutgoing(from);
    return trunk && this.#channels.routeThrough(trunk, { problem: NOT_STARTED.detail });
  }

  /** Refuses new calls from now on. Resolves when the last call has ended, transferred ones included. */
  async drain(): Promise<void> {
    this.#sip.drain();
    this.#carrier?.drain();
    await this.#carrier?.whenEmpty();
  }

  /** Safe to call twice, and after a start that failed. */
  async stop(): Promise<void> {
    this.#addresses.stop();
    this.#strangers.stop();
    await this.#carrier?.stop();
    await this.#sip.stop();
    await this.#media.stop();
  }

  /** Opens RTP sessions for other sources than carriers. */
  get lines(): ReturnType<typeof openMediaSide>['lines'] {
    return this.#media.lines;
  }

  /** The SIP engine's counters since the start. */
  get sipCounts(): EngineCounts {
    return this.#sip.counts;
  }

  /** Requests of hosts that no trunk knows, by network. */
  get strangers(): StrangerCounts {
    return this.#strangers.counts;
  }

  /** Trunks that carriers may still ask passwords of; former settings are kept no longer than calls or a goodbye use them. */
  get challengeable(): readonly Trunk[] {
    return [...new Set([...this.#registry.all, ...this.#leaving, ...this.#channels.trunks])];
  }

  /** Checks for `/readyz`: the kind of RTP sockets, the public address, and the certificate of SIP over TLS where there is one. */
  checks(): readonly ReadinessCheck[] {
    const { certificate } = this.#sip;
    const optional = [this.#addresses.check(), certificate?.check()];
    return [this.#media.check(), ...optional.flatMap((check) => check ?? [])];
  }

  /** Expiry of the certificate of SIP over TLS; undefined without one. */
  get certificateExpiresAt(): Date | undefined {
    return this.#sip.certificate?.expiresAt;
  }

  /** State of carriers, trunks and media servers. */
  reports(): readonly CarrierReport[] {
    return [...(this.#carrier?.reports() ?? []), ...this.#media.reports()];
  }

  /** The carrier on one SIP server, with a media gateway that uses the same connection. */
  async #member(server: SipServer, journal: OpenDialogJournal): Promise<CarrierPoolMember> {
    const { clock, log } = this.#options;
    const srf = openSrf();
    const media = await this.#media.gatewayFor({ name: server.name, srf }, journal.orphanChannels);
    const ours = { addresses: this.#addresses, strangers: this.#strangers, phones: this.#phones };
    const { holdMusic } = this;
    const parts = { ...server, ...ours, srf, media, journal, holdMusic, clock, log };
    return {
      weight: server.weight,
      open: (ties) =>
        new DrachtioCarrier({
          ...parts,
          ...ties,
          trunks: this.#registry.all,
          channels: this.#channels,
          ...(this.#onText && { onText: this.#onText }),
        }),
    };
  }
}

/** SRTP keys are in the SIP messages: without TLS, everyone on the way can read them. RFC 4568, 9.2. */
function warnOfClearKeys(trunks: readonly Trunk[], log: Logger): void {
  const names = trunks
    .filter(({ srtp, proxy }) => srtp !== 'off' && proxy.transport !== 'tls')
    .map(({ name }) => name);
  if (names.length > 0) {
    log.warn({ trunks: names }, 'SRTP keys go unencrypted: add ;transport=tls to these trunks');
  }
}

/**
 * Reads the telephones of `SIP_PHONES`. Without the setting and without a file there are none.
 *
 * @throws {Error} naming the file and what is wrong in it.
 */
function readPhonesFile({ SIP_PHONES }: Pick<Config, 'SIP_PHONES'>): readonly Phone[] {
  const isGiven = SIP_PHONES !== readConfig({}).SIP_PHONES;
  if (!isGiven && !existsSync(SIP_PHONES)) return [];
  return parsePhones(readSettingsFile(SIP_PHONES), SIP_PHONES);
}
