/** Options of a user agent with their defaults, and the context that its parts share. */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../lib/clock.ts';
import { LocalRoutes } from '../lib/local-routes.ts';
import { type Logger, silentLogger } from '../lib/logger.ts';
import type { MessageTrace } from './call-traces.ts';
import type { SessionTimerOptions } from './dialog/session-timer.ts';
import type { EngineStats } from './engine-stats.ts';
import type { RandomBytes, Tokens } from './own-messages.ts';
import type { RequestSender } from './request-sender.ts';
import { type BaseTimers, STANDARD_TIMERS } from './transaction/timers.ts';
import type { AddressFor } from './transport/flow.ts';
import { type Resolver, systemResolver } from './transport/next-hop.ts';
import { STANDARD_CONNECTION_LIMITS } from './transport/tcp-connection.ts';
import type { TlsSettings } from './transport/tls-layer.ts';
import type { ListenOptions, RequestFilter } from './transport/transport-layer.ts';
import type { TcpLimits } from './transport/transport-tcp.ts';
import { type OpenUdpSocket, openUdpSocket } from './transport/transport-udp.ts';

/** Tells strangers by the IP address that a packet came from. */
export interface StrangerGuard {
  /** Whether the source has a small quota of TCP and TLS connections, and no answer to keep-alive. */
  isStranger(sourceAddress: string): boolean;

  /** Whether it gets no answer to a request that belongs to no dialog and no transaction. */
  isSilenced(sourceAddress: string): boolean;

  /** Called for each request that gets no answer. */
  count(sourceAddress: string): void;
}

/** Options of `UserAgent`; all but the listening addresses have defaults. */
export interface UserAgentOptions {
  /** Listening addresses; requests are sent from the first one of each protocol. */
  readonly listen: readonly ListenOptions[];
  /** Default: the listening address; for a wildcard, the source address of packets to the far end. */
  readonly addressFor?: AddressFor;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Value of User-Agent and Server. */
  readonly product?: string;
  /** Session timers, RFC 4028. Without them, none is requested, but a peer's request is honoured. */
  readonly sessionTimer?: SessionTimerOptions;
  /** Filter of incoming requests; a rejected one gets no response. Default: accept all. */
  readonly screen?: RequestFilter;
  /** Sources that are not to learn that a SIP server is here. Default: none. */
  readonly strangers?: StrangerGuard;
  /** More live transactions than that, and requests get 503. Default: 50,000. */
  readonly transactionsMax?: number;
  readonly tcpLimits?: Partial<TcpLimits>;
  /** Certificates for TLS. Without one of ours, TLS connects and does not listen. */
  readonly tls?: TlsSettings;
  readonly timers?: BaseTimers;
  readonly randomBytes?: RandomBytes;
  readonly resolver?: Resolver;
  readonly openUdpSocket?: OpenUdpSocket;
  /** Called with a peer's address and ours as it saw it, for each answer to REGISTER and OPTIONS that tells. RFC 3581. */
  readonly onSeen?: ((farEnd: string, address: string) => void) | undefined;
  /** Called when the connection that a valid registration went over is gone, with the Call-ID of its REGISTER. */
  readonly onRegistrationLost?: ((callId: string) => void) | undefined;
  /** Observer of every message. */
  readonly trace?: MessageTrace | undefined;
}

/** Two transactions a call, 32 seconds each over UDP: some 800 calls a second, in some 120 MB. */
const TRANSACTIONS_MAX = 50_000;

const STANDARD_TCP_LIMITS: TcpLimits = {
  ...STANDARD_CONNECTION_LIMITS,
  connectionsMax: 4096,
  connectionsPerPeerMax: 512,
  strangersMax: 64,
  strangersPerPeerMax: 8,
  connectMs: 4000,
};

/** Fills in the defaults. */
export function withDefaults(options: UserAgentOptions) {
  const { clock = systemClock, strangers } = options;
  const routes = new LocalRoutes({ clock });
  return {
    addressFor: (bound: string, farEnd: string) => routes.towards(bound, farEnd),
    logger: silentLogger,
    screen: () => true,
    isStranger: (address: string) => strangers?.isStranger(address) === true,
    transactionsMax: TRANSACTIONS_MAX,
    timers: STANDARD_TIMERS,
    randomBytes,
    resolver: systemResolver,
    openUdpSocket,
    tls: {},
    ...options,
    clock,
    tcpLimits: { ...STANDARD_TCP_LIMITS, ...options.tcpLimits },
  };
}

/** Context shared by the parts of a user agent. */
export interface EngineContext {
  readonly clock: Clock;
  readonly timers: BaseTimers;
  readonly tokens: Tokens;
  readonly stats: EngineStats;
  readonly logger: Logger;
  readonly sender: RequestSender;
  /** Value of User-Agent and Server. */
  readonly product: string | undefined;
  readonly sessionTimer: SessionTimerOptions | undefined;
}
