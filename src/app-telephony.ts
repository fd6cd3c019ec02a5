/** Composition root, part 3: the SIP engine, the media engine, and call control over both. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Config } from './config.ts';
import { readSettingsFile } from './config.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import { MediaEngine } from './media/media-engine.ts';
import { DrachtioFront } from './sip/drachtio-front/drachtio-front.ts';
import type { EngineCounts } from './sip/engine-stats.ts';
import { UserAgent } from './sip/user-agent.ts';
import type { CarrierReport, IncomingCall, OutgoingCall } from './telephony/carrier.ts';
import { CarrierError } from './telephony/carrier.ts';
import { DirectGateway } from './telephony/direct/direct-gateway.ts';
import { DrachtioCarrier } from './telephony/drachtio/drachtio-carrier.ts';
import { credentialsOf } from './telephony/trunk-credentials.ts';
import type { TrunkLine } from './telephony/trunk-line.ts';
import { TrunkTable } from './telephony/trunk-table.ts';
import { parseTrunks, type Trunk } from './telephony/trunks.ts';

/** Refreshed every half hour; a peer that is gone is noticed within the hour. RFC 4028. */
const SESSION_TIMER = { intervalMs: 1_800_000, intervalMsMin: 90_000 };

/** One media thread keeps its 20 ms for so many calls, with a margin; each more of them costs start-up and memory. */
const CALLS_PER_MEDIA_WORKER = 400;

interface Options {
  readonly config: Config;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The embedded plane: our SIP engine with drachtio's client protocol in front of it, and our own media. */
export class EmbeddedTelephony {
  readonly #options: Options;
  readonly #engine: UserAgent;
  readonly #media: DirectGateway;
  readonly #front: DrachtioFront;
  /** Only this process knows it, so that no other program on this machine can take the calls. */
  readonly #secret = randomBytes(24).toString('hex');
  readonly #trunks: readonly Trunk[];
  readonly #table: TrunkTable;
  #carrier: DrachtioCarrier | undefined;

  /** @throws {Error} naming the trunk file and what is wrong in it. */
  constructor(options: Options) {
    const { config, version, clock, log } = options;
    const { SIP_HOST: address, SIP_PORT: port } = config;
    // They may run with real-time priority: one core is left to everything else.
    const cores = Math.max(1, availableParallelism() - 1);
    const workers = Math.min(cores, Math.ceil(config.MAX_CALLS / CALLS_PER_MEDIA_WORKER));
    this.#options = options;
    this.#trunks = parseTrunks(readSettingsFile(config.SIP_TRUNKS));
    this.#table = new TrunkTable(this.#trunks);
    this.#engine = new UserAgent({
      listen: [
        { protocol: 'UDP', address, port },
        { protocol: 'TCP', address, port },
      ],
      product: `offhook/${version}`,
      sessionTimer: SESSION_TIMER,
      clock,
      logger: log,
    });
    this.#media = new DirectGateway({
      engine: new MediaEngine({ clock, log, ports: config.RTP_PORTS, address, workers }),
    });
    this.#front = new DrachtioFront({
      userAgent: this.#engine,
      secret: this.#secret,
      port: 0,
      credentialsFor: credentialsOf(this.#trunks),
      clock,
      logger: log,
    });
  }

  /** @throws {Error} naming the address and port that could not be opened. */
  async start(onIncoming: (call: IncomingCall) => void): Promise<void> {
    await this.#media.start();
    await this.#engine.start();
    await this.#front.start();
    this.#carrier = new DrachtioCarrier({
      host: '127.0.0.1',
      port: this.#front.port,
      secret: this.#secret,
      trunks: this.#trunks,
      media: this.#media,
      challengesAnsweredBy: 'server',
      clock: this.#options.clock,
      log: this.#options.log,
    });
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
    this.#engine.drain();
    this.#carrier?.drain();
  }

  /** Safe to call twice, and after a start that failed. */
  async stop(): Promise<void> {
    await this.#carrier?.stop();
    await this.#front.stop();
    await this.#engine.stop();
    await this.#media.stop();
  }

  /** What the SIP engine has counted since the start. */
  get sipCounts(): EngineCounts {
    return this.#engine.counts;
  }

  reports(): readonly CarrierReport[] {
    return this.#carrier?.reports() ?? [];
  }
}
