/** Composition root, part 3: the telephone network, by whichever SIP and media the settings choose. */
import { openMediaSide } from './app-media.ts';
import { openSipSide, type SipServer, type SipSide } from './app-sip.ts';
import { type Config, readSettingsFile } from './config.ts';
import type { DialogStore } from './domain/open-dialog.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import type { EngineCounts } from './sip/engine-stats.ts';
import type { CarrierReport, IncomingCall, OutgoingCall } from './telephony/carrier.ts';
import { CarrierError } from './telephony/carrier.ts';
import { CarrierPool, type CarrierPoolMember } from './telephony/drachtio/carrier-pool.ts';
import { DialogBook } from './telephony/drachtio/dialog-book.ts';
import { DrachtioCarrier } from './telephony/drachtio/drachtio-carrier.ts';
import { openSrf } from './telephony/drachtio/srf.ts';
import { TrunkLines } from './telephony/drachtio/trunk-lines.ts';
import type { TrunkLine } from './telephony/trunk-line.ts';
import { TrunkTable } from './telephony/trunk-table.ts';
import { parseTrunks, type Trunk } from './telephony/trunks.ts';

interface Options {
  readonly config: Config;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Everything between the carriers and the calls. All four combinations of `TELEPHONY` and `MEDIA` are the same here. */
export class Telephony {
  readonly #options: Options;
  readonly #sip: SipSide;
  readonly #media: ReturnType<typeof openMediaSide>;
  readonly #trunks: readonly Trunk[];
  readonly #table: TrunkTable;
  readonly #lines = new TrunkLines();
  #carrier: CarrierPool | undefined;

  /** @throws {Error} naming the trunk file and what is wrong in it. */
  constructor(options: Options) {
    this.#options = options;
    this.#trunks = parseTrunks(readSettingsFile(options.config.SIP_TRUNKS));
    this.#table = new TrunkTable(this.#trunks);
    this.#sip = openSipSide({ ...options, trunks: this.#trunks });
    this.#media = openMediaSide(options);
  }

  /**
   * Calls come in when it resolves. Servers elsewhere that are out of reach are no failure: `reports` says so.
   *
   * @param dialogs where answered calls are written down; those found in it are ended.
   * @throws {Error} naming the address and port that could not be opened, or the server that refuses the secret.
   */
  async start(onIncoming: (call: IncomingCall) => void, dialogs: DialogStore): Promise<void> {
    const { clock, log } = this.#options;
    const book = new DialogBook({ store: dialogs, clock, log });
    await this.#media.start();
    const servers = await this.#sip.start();
    this.#carrier = new CarrierPool(
      await Promise.all(servers.map((server) => this.#member(server, book))),
    );
    await this.#carrier.start(onIncoming);
  }

  /** @throws {CarrierError} as every carrier does, and 503 before the start. */
  place(request: Parameters<DrachtioCarrier['place']>[0]): OutgoingCall {
    if (this.#carrier === undefined) {
      throw new CarrierError('Cannot place the call: telephony has not been started', 503);
    }
    return this.#carrier.place(request);
  }

  /** Whether some trunk may call from this number; known before the start as well. */
  hasTrunkFor(from: string): boolean {
    return this.#table.ofOutgoing(from) !== undefined;
  }

  /** The line that calls from this number take; undefined when no trunk has the number. */
  lineOf(from: string): TrunkLine | undefined {
    return this.#carrier?.lineOf(from);
  }

  /** From now on carriers are told to go elsewhere; calls in progress go on. */
  drain(): void {
    this.#sip.drain();
    this.#carrier?.drain();
  }

  /** Safe to call twice, and after a start that failed. */
  async stop(): Promise<void> {
    await this.#carrier?.stop();
    await this.#sip.stop();
    await this.#media.stop();
  }

  /** What our own SIP engine has counted since the start. */
  get sipCounts(): EngineCounts {
    return this.#sip.counts;
  }

  reports(): readonly CarrierReport[] {
    return [...(this.#carrier?.reports() ?? []), ...this.#media.reports()];
  }

  /** The carrier on one SIP server, with a media gateway that uses the same connection. */
  async #member(server: SipServer, book: DialogBook): Promise<CarrierPoolMember> {
    const { clock, log } = this.#options;
    const srf = openSrf();
    const media = await this.#media.gatewayFor(srf, book.orphanChannels);
    const parts = { ...server, srf, media, book, clock, log };
    return {
      weight: server.weight,
      open: (ties) =>
        new DrachtioCarrier({ ...parts, ...ties, trunks: this.#trunks, lines: this.#lines }),
    };
  }
}
