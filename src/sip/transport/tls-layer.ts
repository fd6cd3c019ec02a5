/** TLS over TCP connections: our certificate for those we accept, verification of the peers that we connect to. */
import { isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  createServer,
  getCACertificates,
  type SecureContext,
  type Server,
  type TLSSocket,
} from 'node:tls';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { type Endpoint, formatEndpoint } from './flow.ts';
import { tlsFailureOf } from './tls-failure.ts';

/** Certificates, as PEM text. */
export interface TlsSettings {
  /** Our certificate with its chain, and its key, for accepted connections and for peers that ask for it. */
  readonly identity?: { readonly cert: string; readonly key: string } | undefined;
  /** Certificate authorities of peers, besides the well-known ones. */
  readonly ca?: string | undefined;
  /** Whether a peer that connects must have a certificate by one of `ca` (mutual TLS). */
  readonly verifiesClients?: boolean;
}

/** Name that a peer's certificate must have; without one, its IP address. */
export interface PeerName {
  readonly serverName?: string | undefined;
}

/** RFC 8996: older versions are broken. */
const VERSION_MIN = 'TLSv1.2';

interface TlsLayerOptions {
  readonly settings: TlsSettings;
  /** Time limit of a handshake with a peer that connects. */
  readonly handshakeMs: number;
  readonly onSecured: (socket: TLSSocket) => void;
  readonly onFailed: (why: string) => void;
}

/** Secures the connections of one transport. */
export class TlsLayer {
  readonly #server: Server;
  #settings: TlsSettings;
  /** Made by the first connection: the well-known authorities take a while to read. */
  #clientContext: SecureContext | undefined;

  constructor({ settings, handshakeMs, onSecured, onFailed }: TlsLayerOptions) {
    this.#settings = settings;
    // It listens nowhere: connections are handed to it once they are within the limits.
    this.#server = createServer(
      { ...serverOptions(settings), handshakeTimeout: handshakeMs },
      onSecured,
    );
    this.#server.on('tlsClientError', (error, socket) => {
      socket.destroy();
      onFailed(tlsFailureOf(error));
    });
  }

  get hasCertificate(): boolean {
    return this.#settings.identity !== undefined;
  }

  /** Uses other certificates for new connections. */
  use(settings: TlsSettings): void {
    this.#server.setSecureContext(serverOptions(settings));
    this.#settings = settings;
    this.#clientContext = undefined;
  }

  /** Begins the handshake on an accepted connection; ends in `onSecured` or `onFailed`. */
  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Connects; `secureConnect` means that the peer has proved its name. */
  connect(peer: Endpoint & PeerName): TLSSocket {
    this.#clientContext ??= clientContext(this.#settings);
    return connectIn(this.#clientContext, peer);
  }
}

/** @throws {Error} with a code of OpenSSL when it cannot use our certificate, such as one with a short key. */
export function checkIdentity(identity: NonNullable<TlsSettings['identity']>): void {
  createSecureContext({ ...identity, minVersion: VERSION_MIN });
}

/** One connection to a peer, as `TlsLayer.connect` makes it. */
export function connectTls(settings: TlsSettings, peer: Endpoint & PeerName): TLSSocket {
  return connectIn(clientContext(settings), peer);
}

function connectIn(
  secureContext: SecureContext,
  { address, port, serverName }: Endpoint & PeerName,
): TLSSocket {
  const name = serverName ?? address;
  return connect({
    host: address,
    port,
    // RFC 6066, 3: no IP address as a server name.
    servername: isIP(name) === 0 ? name : '',
    secureContext,
    rejectUnauthorized: true,
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  });
}

function serverOptions({ identity, ca, verifiesClients = false }: TlsSettings) {
  const clients = { requestCert: true, rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  return { ...identity, minVersion: VERSION_MIN, ...(verifiesClients && clients) } as const;
}

function clientContext({ identity, ca }: TlsSettings): SecureContext {
  const authorities = ca === undefined ? [] : [...getCACertificates('default'), ca];
  return createSecureContext({
    ...identity,
    ...(authorities.length > 0 && { ca: authorities }),
    minVersion: VERSION_MIN,
  });
}

const NAMES_MAX = 256;

/** Names that peers proved, by endpoint: a Contact often has an IP address where the certificate has a name. */
export class PeerNames {
  readonly #names = new BoundedMap<string, string>(NAMES_MAX);

  /** The target with the name that its peer proved before, where it has none of its own. */
  named(target: Endpoint & PeerName): Endpoint & PeerName {
    const serverName = target.serverName ?? this.#names.get(formatEndpoint(target));
    return { ...target, serverName };
  }

  /** Evicts the oldest entry when full. */
  proved(target: Endpoint & PeerName): void {
    if (target.serverName === undefined) return;
    this.#names.set(formatEndpoint(target), target.serverName);
  }
}
