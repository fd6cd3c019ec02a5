/** Composition root: SIP by the engine in this process, or by remote drachtio servers. */
import { randomBytes } from 'node:crypto';
import type { EngineTraces } from '../call/session/sip-trace-keeper.ts';
import type { Config } from '../config/config.ts';
import type { OpenInvite } from '../domain/call/open-dialog.ts';
import type { SipTrace } from '../domain/call/sip-trace.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import {
  type CallTrace,
  type CallTraces,
  type MessageTrace,
  traceText,
} from '../sip/call-traces.ts';
import { answerChallenge } from '../sip/digest.ts';
import { DrachtioServer } from '../sip/drachtio-server/drachtio-server.ts';
import { type EngineCounts, EngineStats } from '../sip/engine-stats.ts';
import type { SipMessage } from '../sip/message/message.ts';
import { parseMessage } from '../sip/parser/parser.ts';
import { isAllowedUserAgent } from '../sip/parser/request-check.ts';
import { type Flow, formatEndpoint, type ListenProtocol } from '../sip/transport/flow.ts';
import type { Target } from '../sip/transport/next-hop.ts';
import { UserAgent } from '../sip/user-agent.ts';
import { headOf, type SentInvite } from '../telephony/drachtio/carrier/open-dialog-journal.ts';
import type { EndInvite } from '../telephony/drachtio/carrier/orphaned-calls.ts';
import type { Strangers } from '../telephony/drachtio/carrier/source-acl.ts';
import type { AnswerChallenge } from '../telephony/drachtio/leg/in-dialog-request.ts';
import type { OurAddresses } from '../telephony/trunks/our-addresses.ts';
import { parseServers, placeOf, type ServerAddress } from '../telephony/trunks/server-list.ts';
import { credentialsOf } from '../telephony/trunks/trunk-table.ts';
import type { Trunk } from '../telephony/trunks/trunks.ts';
import { sipAddressFor, sipHostsOf } from './addresses.ts';
import { SipCertificate } from './sip-certificate.ts';

/** Session timer: refreshed every 30 minutes; a lost peer is noticed within the hour. RFC 4028. */
const SESSION_TIMER = { intervalMs: 1_800_000, intervalMsMin: 90_000 };

/** Dependencies of the SIP side. */
export interface SipOptions {
  readonly config: Config;
  readonly version: string;
  /** Trunks whose credentials may answer a challenge; read at each challenge. */
  readonly trunks: () => readonly Trunk[];
  readonly addresses: OurAddresses;
  readonly strangers: Strangers;
  /** Called when the connection that a REGISTER went over is gone; remote servers tell of none. */
  readonly onRegistrationLost?: (callId: string) => void;
  readonly traces?: MessageTrace;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A server of drachtio's client protocol. */
export interface SipServer extends ServerAddress {
  readonly secret: string;
  /** Its name in reports. */
  readonly name: string;
  /** Undefined where the server answers challenges itself. */
  readonly answerChallenge?: AnswerChallenge;
  /** Ends orphaned INVITEs; given where the engine reports each INVITE by `onInvite`. */
  readonly endInvite?: EndInvite;
}

type InviteListener = (sipCallId: string, sent: SentInvite) => void;

/** The SIP side, whichever engine it is. */
export interface SipSide {
  /**
   * @param onInvite called before each outgoing INVITE goes on the wire, by engines with `endInvite`.
   * @returns at least one server.
   * @throws {Error} naming the address and port that could not be opened.
   */
  start(onInvite: InviteListener): Promise<readonly SipServer[]>;
  /** Answers new requests with 503 from now on. */
  drain(): void;
  /** Safe to call twice, and after a start that failed. */
  stop(): Promise<void>;
  /** The engine's counters since the start; zeros for remote servers. */
  readonly counts: EngineCounts;
  /** Certificate of the engine; undefined for remote servers, which have their own. */
  readonly certificate?: SipCertificate;
}

/** Chooses by `TELEPHONY`. */
export function openSipSide(options: SipOptions): SipSide {
  return options.config.TELEPHONY === 'embedded' ? new EmbeddedSip(options) : remoteSip(options);
}

/** Name of the embedded engine in reports. */
const EMBEDDED = 'sip';

/** Our SIP engine, with drachtio's client protocol in front of it. */
class EmbeddedSip implements SipSide {
  readonly certificate: SipCertificate;
  readonly #engine: UserAgent;
  readonly #drachtio: DrachtioServer;
  /** Known to this process only, so that no other program on this machine can take the calls. */
  readonly #secret = randomBytes(24).toString('hex');
  #onInvite: InviteListener = () => undefined;

  constructor(options: SipOptions) {
    const { config, version, trunks, addresses, strangers, traces, clock, log } = options;
    const { SIP_PORT: port, SIP_TLS_PORT: tlsPort } = config;
    this.certificate = new SipCertificate({ config, clock, log });
    this.#engine = new UserAgent({
      listen: sipHostsOf(config).flatMap((address) => [
        { protocol: 'UDP', address, port },
        { protocol: 'TCP', address, port },
        { protocol: 'TLS', address, port: tlsPort },
      ]),
      tls: this.certificate.settings,
      addressFor: sipAddressFor(addresses, { clock, log }),
      product: `offhook/${version}`,
      screen: isAllowedUserAgent,
      strangers,
      sessionTimer: SESSION_TIMER,
      onRegistrationLost: options.onRegistrationLost,
      onSeen: (farEnd, address) => addresses.seen(farEnd, address),
      trace: traces,
      clock,
      logger: log,
    });
    this.#drachtio = new DrachtioServer({
      userAgent: this.#engine,
      secret: this.#secret,
      port: 0,
      credentialsFor: (...challenge) => credentialsOf(trunks())(...challenge),
      onInvite: (invite, flow) => this.#onInvite(invite.callId, sentInvite(invite, flow)),
      clock,
      logger: log,
    });
  }

  async start(onInvite: InviteListener): Promise<readonly SipServer[]> {
    this.#onInvite = onInvite;
    await this.#engine.start();
    this.certificate.start((settings) => this.#engine.useTls(settings));
    await this.#drachtio.start();
    const { port } = this.#drachtio;
    const endInvite = (invite: OpenInvite) => endOrphan(this.#engine, invite);
    const address = { host: '127.0.0.1', port, weight: 1 };
    return [{ ...address, secret: this.#secret, name: EMBEDDED, endInvite }];
  }

  drain(): void {
    this.#engine.drain();
  }

  async stop(): Promise<void> {
    this.certificate.stop();
    await this.#drachtio.stop();
    await this.#engine.stop();
  }

  get counts(): EngineCounts {
    return this.#engine.counts;
  }
}

/** Journal facts of an outgoing INVITE. */
function sentInvite(message: SipMessage, { protocol, remote }: Flow): SentInvite {
  const head = headOf(message.toBuffer().toString());
  const peer = { protocol, ...remote };
  const invite = { direction: 'out', server: EMBEDDED, transactionId: '', head, peer } as const;
  return { message, invite };
}

/** Ends an INVITE of an earlier process. @throws {SipError} when it cannot be read, or its peer is unreachable. */
async function endOrphan(engine: UserAgent, { direction, head, peer }: OpenInvite): Promise<void> {
  const invite = parseMessage(Buffer.from(head));
  const target: Target = { ...peer, protocol: protocolOf(peer.protocol) };
  await engine.endOrphan(direction, invite, target);
}

function protocolOf(name: string): ListenProtocol {
  return name === 'TCP' || name === 'TLS' ? name : 'UDP';
}

/** Remote drachtio servers, which are started and stopped elsewhere. */
function remoteSip({ config, trunks, clock, log }: SipOptions): SipSide {
  const servers = parseServers(config.DRACHTIO_HOST, config.DRACHTIO_PORT);
  return {
    start: async () =>
      servers.map((server) => ({
        ...server,
        secret: config.DRACHTIO_SECRET,
        name: `sip by ${placeOf(server)}`,
        answerChallenge: (refused, response) =>
          answerChallenge(credentialsOf(trunks()), refused, response),
      })),
    drain: () => undefined,
    stop: async () => undefined,
    counts: new EngineStats({ clock, logger: log }).counts,
  };
}

/** Adapts the engine's traces for `SipTraceKeeper`. */
export function engineTraces(traces: CallTraces): EngineTraces {
  return {
    forget: (sipCallId) => traces.forget(sipCallId),
    get: (sipCallId) => {
      const trace = traces.get(sipCallId);
      return trace && { lastAtMs: trace.lastAtMs, read: () => readTrace(trace) };
    },
  };
}

function readTrace({ calendarAheadMs, messages, isTruncated }: CallTrace): SipTrace {
  return {
    isTruncated,
    messages: messages.map((message) => {
      const { atMs, isIncoming, protocol, local, remote } = message;
      const [from, to] = isIncoming ? [remote, local] : [local, remote];
      return {
        at: new Date(atMs + calendarAheadMs),
        direction: isIncoming ? 'in' : 'out',
        transport: protocol,
        from: formatEndpoint(from),
        to: formatEndpoint(to),
        text: traceText(message),
      };
    }),
  };
}
