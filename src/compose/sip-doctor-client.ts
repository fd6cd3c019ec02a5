/** Composition root: the SIP client of the trunk doctor, on sockets of its own, so that it works while a server runs. */
import { connect, isIPv6, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Config } from '../config/config.ts';
import type { TrunkCheck, TrunkCheckWatch } from '../domain/dialing/trunk.ts';
import { type Clock, OverdueError, unlessAborted, within } from '../lib/clock.ts';
import { rangeOfAddress, urlHost } from '../lib/local-routes.ts';
import type { Logger } from '../lib/logger.ts';
import { DigestClient } from '../sip/digest.ts';
import type { SipMessage } from '../sip/message/message.ts';
import { SipError } from '../sip/message/status.ts';
import { parseUri } from '../sip/message/uri.ts';
import type { OutgoingRequest } from '../sip/own-messages.ts';
import { PING, seenAddressOf } from '../sip/transport/flow.ts';
import { resolveTargets, systemResolver } from '../sip/transport/next-hop.ts';
import { connectTls, type TlsSettings, tlsFailureOf } from '../sip/transport/tls-layer.ts';
import { UserAgent } from '../sip/user-agent.ts';
import type { OurAddresses } from '../telephony/trunks/our-addresses.ts';
import {
  checkTrunk,
  type DoctorClient,
  type DoctorReply,
  type ProxyCertificate,
  type ProxyPlace,
} from '../telephony/trunks/trunk-doctor.ts';
import { domainOf, proxyUriOf, registrarUriOf, type Trunk } from '../telephony/trunks/trunks.ts';
import { sipAddressFor, sipHostsOf } from './addresses.ts';
import { SipCertificate } from './sip-certificate.ts';

/** Time limit of DNS, of a TCP connection, and of each request; over UDP enough for four transmissions. */
const WAIT_MS_MAX = 5_000;

/** How long a far end may take to refuse our certificate after the handshake; many answer no keep-alive. */
const REFUSAL_MS_MAX = 2_000;

/** Time limit of the whole check, with all its steps. */
const CHECK_MS_MAX = 25_000;

interface DoctorOptions {
  readonly config: Config;
  readonly addresses: OurAddresses;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch?: TrunkCheckWatch | undefined;
}

/**
 * Checks a trunk, in 25 s at most.
 *
 * @throws {SipError} 503 when no port is free.
 * @throws the reason of the watch's signal when it is aborted.
 */
export async function diagnose(trunk: Trunk, options: DoctorOptions): Promise<TrunkCheck> {
  const client = new SipDoctorClient(trunk, options);
  try {
    await client.start();
    const onProgress = options.watch?.onProgress;
    return await checkTrunk(trunk, {
      ...{ client, now: () => options.clock.now() },
      ...(onProgress !== undefined && { onProgress }),
    });
  } finally {
    await client.stop();
  }
}

class SipDoctorClient implements DoctorClient {
  readonly #trunk: Trunk;
  readonly #options: DoctorOptions;
  readonly #engine: UserAgent;
  readonly #tls: TlsSettings;
  readonly #untilMs: number;

  constructor(trunk: Trunk, options: DoctorOptions) {
    this.#trunk = trunk;
    this.#options = options;
    this.#untilMs = options.clock.nowMs() + CHECK_MS_MAX;
    const { config, addresses, clock, log } = options;
    this.#tls = new SipCertificate({ config, clock, log }).settings;
    this.#engine = new UserAgent({
      listen: sipHostsOf(config).flatMap((address) => [
        { protocol: 'UDP', address, port: 0 },
        { protocol: 'TCP', address, port: 0 },
        { protocol: 'TLS', address, port: 0 },
      ]),
      tls: this.#tls,
      addressFor: sipAddressFor(addresses, { clock, log }),
      onSeen: (farEnd, address) => addresses.seen(farEnd, address),
      // It asks, and answers no requests.
      strangers: { isStranger: () => true, isSilenced: () => true, count: () => undefined },
      clock,
      logger: log,
    });
  }

  /** @throws {SipError} 503 when no port is free. */
  start(): Promise<void> {
    return this.#engine.start();
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }

  async locate(): Promise<readonly ProxyPlace[]> {
    const uri = parseUri(proxyUriOf(this.#trunk));
    const found = resolveTargets(uri, ['UDP', 'TCP', 'TLS'], systemResolver);
    const noPlaces = (error: unknown) => {
      if (error instanceof SipError) return [];
      throw error;
    };
    return (await this.#inTime(found.catch(noPlaces))) ?? [];
  }

  async connectProblem({ address, port }: ProxyPlace): Promise<string | undefined> {
    const { SIP_HOST } = this.#options.config;
    const isFar = rangeOfAddress(address) !== 'loopback';
    if (isFar && rangeOfAddress(SIP_HOST) === 'loopback') {
      return `SIP_HOST is ${SIP_HOST}, which only this machine reaches; set it to the address that faces the carrier, or 0.0.0.0`;
    }
    if (this.#trunk.proxy.transport === 'udp') return undefined;
    const socket = connect({ host: address, port });
    const problem = await this.#inTime(tcpProblem(socket, address)).finally(() => socket.destroy());
    return problem === undefined
      ? `no answer in ${WAIT_MS_MAX / 1000} s; a firewall may drop it, or the carrier takes UDP alone`
      : problem.why;
  }

  async certificate({ address, port }: ProxyPlace): Promise<ProxyCertificate | undefined> {
    const { transport, host: serverName } = this.#trunk.proxy;
    if (transport !== 'tls') return undefined;
    const socket = connectTls(this.#tls, { address, port, serverName });
    try {
      const found = await this.#inTime(certificateOf(socket));
      const silence = `no answer in ${WAIT_MS_MAX / 1000} s to the handshake; the port may be one without TLS`;
      if (found === undefined) return { problem: silence, expiresAt: undefined };
      const refusal = found.problem ?? (await this.#inTime(refusalOf(socket), REFUSAL_MS_MAX));
      return { ...found, problem: refusal };
    } finally {
      socket.destroy();
    }
  }

  options(): Promise<DoctorReply | undefined> {
    return this.#ask({ method: 'OPTIONS', uri: registrarUriOf(this.#trunk) });
  }

  bindings(): Promise<DoctorReply | undefined> {
    const uri = registrarUriOf(this.#trunk);
    return this.#ask({ method: 'REGISTER', uri, to: this.#from, withoutContact: true });
  }

  async #ask(request: OutgoingRequest): Promise<DoctorReply | undefined> {
    const { username, password } = this.#trunk;
    const credentials =
      username === undefined || password === undefined ? undefined : { username, password };
    const sent = this.#engine.request({
      ...request,
      from: this.#from,
      route: [`<${proxyUriOf(this.#trunk)};lr>`],
      digest: new DigestClient({
        credentialsFor: (realm) => (this.#isFor(realm) ? credentials : undefined),
      }),
    });
    const response = await this.#inTime(sent);
    return response === undefined ? undefined : replyOf(response);
  }

  get #from(): string {
    return `<sip:${this.#trunk.username ?? 'check'}@${domainOf(this.#trunk)}>`;
  }

  #isFor(realm: string): boolean {
    return this.#trunk.realm === undefined || this.#trunk.realm === realm;
  }

  /** Undefined when it takes too long: silence is a finding. Rejects when the check is stopped. */
  #inTime<Value>(work: Promise<Value>, waitMsMax = WAIT_MS_MAX): Promise<Value | undefined> {
    const { clock, watch } = this.#options;
    const waitMs = Math.min(waitMsMax, Math.max(0, this.#untilMs - clock.nowMs()));
    const answered = within(clock, waitMs, work).catch((error: unknown) => {
      if (error instanceof OverdueError) return undefined;
      throw error;
    });
    return watch === undefined ? answered : unlessAborted(answered, watch.signal);
  }
}

function replyOf(response: SipMessage): DoctorReply {
  const date = new Date(response.get('date') ?? Number.NaN);
  const body = response.body.toString();
  const challenge = response.get('www-authenticate') ?? response.get('proxy-authenticate');
  return {
    status: response.status,
    realm: /realm="([^"]*)"/i.exec(challenge ?? '')?.[1],
    advertised: response.via.host,
    seen: seenAddressOf(response),
    date: Number.isNaN(date.getTime()) ? undefined : date,
    sdp: body.startsWith('v=') ? body : undefined,
    bindings: response.list('contact').length,
  };
}

/** Waits for the handshake. */
function certificateOf(socket: TLSSocket): Promise<ProxyCertificate> {
  return new Promise((resolve) => {
    socket.once('secureConnect', () => {
      const expiresAt = new Date(socket.getPeerCertificate().valid_to);
      resolve({ problem: undefined, expiresAt });
    });
    socket.on('error', (error) => {
      resolve({ problem: tlsFailureOf(error), expiresAt: undefined });
    });
  });
}

/**
 * Waits for the answer to keep-alive, or the refusal of our certificate: with TLS 1.3 the far end judges it once the
 * handshake is over for us, and refuses by an alert or by closing.
 *
 * @returns undefined when it answers.
 */
function refusalOf(socket: TLSSocket): Promise<string | undefined> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve(undefined));
    socket.once('error', (error) => resolve(tlsFailureOf(error)));
    socket.once('close', () =>
      resolve('the peer closed the connection; it may not accept our certificate'),
    );
    socket.write(PING);
  });
}

/** Undefined as `why` when it connects. */
function tcpProblem(socket: Socket, address: string): Promise<{ readonly why?: string }> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve({}));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isRefused = error.code === 'ECONNREFUSED';
      const place = isIPv6(address) ? urlHost(address) : address;
      const why = isRefused
        ? `${place} refuses the connection; check the port, and whether the carrier takes TCP`
        : error.message;
      resolve({ why });
    });
  });
}
