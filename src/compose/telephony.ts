/** Composition root: the telephone network, with the SIP and media sides that the settings choose. */
import type { Config } from '../config/config.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import type { DialogStore } from '../domain/call/open-dialog.ts';
import type { TrunkState, TrunkStatus, Trunks } from '../domain/dialing/number-owner.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { EngineCounts } from '../sip/engine-stats.ts';
import { CallTraces } from '../sip/trace/call-traces.ts';
import {
  CarrierError,
  type CarrierReport,
  type IncomingCall,
  type TrunkRoute,
} from '../telephony/carrier.ts';
import { CarrierPool, type CarrierPoolMember } from '../telephony/drachtio/carrier/carrier-pool.ts';
import { DrachtioCarrier } from '../telephony/drachtio/carrier/drachtio-carrier.ts';
import { OpenDialogJournal } from '../telephony/drachtio/carrier/open-dialog-journal.ts';
import { TrunkChannels } from '../telephony/drachtio/carrier/outgoing-calls.ts';
import { openSrf } from '../telephony/drachtio/carrier/srf.ts';
import type { OurAddresses } from '../telephony/trunks/our-addresses.ts';
import { TrunkNumbers, TrunkTable } from '../telephony/trunks/trunk-table.ts';
import { hostPortOf, type Trunk } from '../telephony/trunks/trunks.ts';
import { openAddresses } from './addresses.ts';
import { openMediaSide } from './media.ts';
import { openSipSide, type SipServer, type SipSide } from './sip.ts';
import { readTrunksFile } from './trunks-file.ts';

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
  readonly #sip: SipSide;
  readonly #media: ReturnType<typeof openMediaSide>;
  readonly #trunks: readonly Trunk[];
  readonly #table: TrunkTable;
  readonly #addresses: OurAddresses;
  readonly #channels = new TrunkChannels();
  #mediaStarted: Promise<void> | undefined;
  #carrier: CarrierPool | undefined;

  /** @throws {Error} naming the trunk file and what is wrong in it. */
  constructor(options: Options) {
    this.#options = options;
    this.#trunks = readTrunksFile(options.config);
    warnOfClearKeys(this.#trunks, options.log);
    this.#table = new TrunkTable(this.#trunks);
    this.trunks = operatorTrunks(this.#trunks, {
      statusOf: (trunk) => this.#carrier?.trunkStatusOf(trunk),
      callsOn: (trunk) => this.#channels.inUse(trunk),
    });
    this.traces = new CallTraces(options);
    this.#addresses = openAddresses({
      ...options,
      trunks: this.#trunks,
      onChange: () => this.#carrier?.register(),
    });
    const parts = { trunks: this.#trunks, addresses: this.#addresses, traces: this.traces };
    this.#sip = openSipSide({ ...options, ...parts });
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
    const journal = new OpenDialogJournal({ store: dialogs, orphans, clock, log });
    await Promise.all([this.startMedia(), this.#addresses.start()]);
    const servers = await this.#sip.start((sipCallId, sent) => journal.sent(sipCallId, sent));
    journal.useServers(servers.map(({ name }) => name));
    this.#carrier = new CarrierPool(
      await Promise.all(servers.map((server) => this.#member(server, journal))),
    );
    await this.#carrier.start(onIncoming);
  }

  /** @throws {CarrierError} as every carrier does, and 503 before the start. */
  place(request: Parameters<CarrierPool['place']>[0]): ReturnType<CarrierPool['place']> {
    if (this.#carrier === undefined) {
      throw new CarrierError('Cannot place the call: telephony has not been started', 503);
    }
    return this.#carrier.place(request);
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

  /** The kind of RTP sockets, for `/readyz`. */
  mediaCheck(): ReadinessCheck {
    return this.#media.check();
  }

  /** The certificate of SIP over TLS, for `/readyz`; undefined without one. */
  certificateCheck(): ReadinessCheck | undefined {
    return this.#sip.certificate?.check();
  }

  /** Expiry of the certificate of SIP over TLS; undefined without one. */
  get certificateExpiresAt(): Date | undefined {
    return this.#sip.certificate?.expiresAt;
  }

  /** The public address, for `/readyz`; undefined where the settings name none. */
  addressCheck(): ReadinessCheck | undefined {
    return this.#addresses.check();
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
    const parts = { ...server, srf, media, addresses: this.#addresses, journal, clock, log };
    return {
      weight: server.weight,
      open: (ties) =>
        new DrachtioCarrier({ ...parts, ...ties, trunks: this.#trunks, channels: this.#channels }),
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

const NOT_STARTED: TrunkStatus = {
  state: 'unregistered',
  detail: 'telephony has not been started',
  expiresAt: null,
};

/** @param now.statusOf undefined before the start. */
export function operatorTrunks(
  trunks: readonly Trunk[],
  now: {
    readonly statusOf: (trunk: Trunk) => TrunkStatus | undefined;
    readonly callsOn: (trunk: Trunk) => number;
  },
): Trunks {
  const numbers = new TrunkNumbers(trunks);
  return {
    list: () => trunks.map((trunk) => stateOf(trunk, now)),
    numbers: numbers.all,
    trunksOf: (number) => numbers.trunksOf(number),
    accountOf: numbers.accountOf,
  };
}

function stateOf(trunk: Trunk, now: Parameters<typeof operatorTrunks>[1]): TrunkState {
  const { name, account = null, proxy, numbers, codecs, maxCalls } = trunk;
  return {
    ...(now.statusOf(trunk) ?? NOT_STARTED),
    name,
    account,
    proxy: hostPortOf(proxy),
    transport: proxy.transport,
    numbers,
    codecs,
    callsInProgress: now.callsOn(trunk),
    callsMax: maxCalls ?? null,
  };
}
