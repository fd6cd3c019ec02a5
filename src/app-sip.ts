/** Composition root: who does SIP, the engine in this process or drachtio servers elsewhere. */
import { randomBytes } from 'node:crypto';
import { sipAddressFor, sipHostsOf } from './app-addresses.ts';
import type { Config } from './config.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import { answerChallenge } from './sip/drachtio-front/answer-challenge.ts';
import { DrachtioFront } from './sip/drachtio-front/drachtio-front.ts';
import { type EngineCounts, EngineStats } from './sip/engine-stats.ts';
import { isNoScanner } from './sip/scanner-screen.ts';
import type { MessageTrace } from './sip/trace/message-trace.ts';
import { UserAgent } from './sip/user-agent.ts';
import type { AnswerChallenge } from './telephony/drachtio/challenge.ts';
import type { OurAddresses } from './telephony/our-addresses.ts';
import { parseServers, placeOf, type ServerAddress } from './telephony/server-list.ts';
import { credentialsOf } from './telephony/trunk-credentials.ts';
import type { Trunk } from './telephony/trunks.ts';

/** Refreshed every half hour; a peer that is gone is noticed within the hour. RFC 4028. */
const SESSION_TIMER = { intervalMs: 1_800_000, intervalMsMin: 90_000 };

export interface SipOptions {
  readonly config: Config;
  readonly version: string;
  readonly trunks: readonly Trunk[];
  readonly addresses: OurAddresses;
  readonly traces?: MessageTrace;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where drachtio's client protocol is served. */
export interface SipServer extends ServerAddress {
  readonly secret: string;
  /** What reports call it. */
  readonly name: string;
  /** Undefined where the server answers challenges itself. */
  readonly answerChallenge?: AnswerChallenge;
}

/** Whoever faces the carriers' SIP. */
export interface SipSide {
  /** @returns at least one server. @throws {Error} naming the address and port that could not be opened. */
  start(): Promise<readonly SipServer[]>;
  /** From now on carriers are told to go elsewhere. */
  drain(): void;
  /** Safe to call twice, and after a start that failed. */
  stop(): Promise<void>;
  /** What the engine has counted since the start; zeros where it is not ours. */
  readonly counts: EngineCounts;
}

/** Chooses by `TELEPHONY`. */
export function openSipSide(options: SipOptions): SipSide {
  return options.config.TELEPHONY === 'embedded' ? new EmbeddedSip(options) : remoteSip(options);
}

/** Our SIP engine, with drachtio's client protocol in front of it. */
class EmbeddedSip implements SipSide {
  readonly #engine: UserAgent;
  readonly #front: DrachtioFront;
  /** Only this process knows it, so that no other program on this machine can take the calls. */
  readonly #secret = randomBytes(24).toString('hex');

  constructor({ config, version, trunks, addresses, traces, clock, log }: SipOptions) {
    const { SIP_PORT: port } = config;
    this.#engine = new UserAgent({
      listen: sipHostsOf(config).flatMap((address) => [
        { protocol: 'UDP', address, port },
        { protocol: 'TCP', address, port },
      ]),
      addressFor: sipAddressFor(addresses, { clock, log }),
      product: `offhook/${version}`,
      screen: isNoScanner,
      sessionTimer: SESSION_TIMER,
      trace: traces,
      clock,
      logger: log,
    });
    this.#front = new DrachtioFront({
      userAgent: this.#engine,
      secret: this.#secret,
      port: 0,
      credentialsFor: credentialsOf(trunks),
      clock,
      logger: log,
    });
  }

  async start(): Promise<readonly SipServer[]> {
    await this.#engine.start();
    await this.#front.start();
    const { port } = this.#front;
    return [{ host: '127.0.0.1', port, weight: 1, secret: this.#secret, name: 'sip' }];
  }

  drain(): void {
    this.#engine.drain();
  }

  async stop(): Promise<void> {
    await this.#front.stop();
    await this.#engine.stop();
  }

  get counts(): EngineCounts {
    return this.#engine.counts;
  }
}

/** Real drachtio servers: nothing of them is ours to start or stop. */
function remoteSip({ config, trunks, clock, log }: SipOptions): SipSide {
  const servers = parseServers(config.DRACHTIO_HOST, config.DRACHTIO_PORT);
  const credentials = credentialsOf(trunks);
  return {
    start: async () =>
      servers.map((server) => ({
        ...server,
        secret: config.DRACHTIO_SECRET,
        name: `sip by ${placeOf(server)}`,
        answerChallenge: (refused, response) => answerChallenge(credentials, refused, response),
      })),
    drain: () => undefined,
    stop: async () => undefined,
    counts: new EngineStats({ clock, logger: log }).counts,
  };
}
