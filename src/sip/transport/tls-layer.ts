/** TLS of the TCP transport: certificates, handshakes, and why they failed. */
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

  /** The target, with the name that its peer has proved before, unless it has a name already. */
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

const NO_AUTHORITY = 'its certificate is by no known authority; set SIP_TLS_CA';
const NOT_TLS = 'the peer does not speak TLS on this connection';
const REFUSED_OURS =
  'the peer does not accept our certificate; it may want one by another authority';
const NO_COMMON_VERSION = 'the peer has no TLS version that we have: 1.2 and 1.3';

/**
 * Reasons by the code of the error: those of Node, and those of OpenSSL with `ERR_SSL_` or `ERR_OSSL_` before them. An
 * `ALERT` came from the peer.
 */
const REASONS: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NO_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: NO_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself; set SIP_TLS_CA to trust it',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not yet valid; compare this machine's clock",
  ECONNRESET: 'the peer broke the connection off',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'the peer did not finish the handshake in time',
  WRONG_VERSION_NUMBER: NOT_TLS,
  HTTP_REQUEST: NOT_TLS,
  PACKET_LENGTH_TOO_LONG: NOT_TLS,
  RECORD_LAYER_FAILURE: NOT_TLS,
  UNSUPPORTED_PROTOCOL: NO_COMMON_VERSION,
  TLSV1_ALERT_PROTOCOL_VERSION: NO_COMMON_VERSION,
  NO_SHARED_CIPHER: 'the peer has no cipher suite that we have',
  SSLV3_ALERT_HANDSHAKE_FAILURE: 'the peer found no version or cipher suite that both have',
  PEER_DID_NOT_RETURN_A_CERTIFICATE:
    'the peer showed no certificate, which SIP_TLS_VERIFY_CLIENTS requires',
  TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'the peer requires a certificate of ours; set SIP_TLS_CERT and SIP_TLS_KEY',
  TLSV1_ALERT_UNKNOWN_CA: REFUSED_OURS,
  SSLV3_ALERT_BAD_CERTIFICATE: REFUSED_OURS,
  SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSED_OURS,
  SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: REFUSED_OURS,
  TLSV1_ALERT_ACCESS_DENIED: REFUSED_OURS,
  SSLV3_ALERT_CERTIFICATE_EXPIRED: 'for the peer our certificate has expired',
  SSLV3_ALERT_CERTIFICATE_REVOKED: 'for the peer our certificate is revoked',
  EE_KEY_TOO_SMALL: 'its key is too short; RSA needs 2048 bits at least',
  CA_KEY_TOO_SMALL: 'the key of an authority in it is too short; RSA needs 2048 bits at least',
  CA_MD_TOO_WEAK: 'its signature is too weak; SHA-256 is needed at least',
};

/** Why a connection failed, or why a certificate cannot be used, in plain English. */
export function tlsFailureOf(error: NodeJS.ErrnoException): string {
  const { code = '' } = error;
  const [, name = ''] = /^ERR_O?SSL_(\w+)$/.exec(code) ?? [];
  const reason = REASONS[code] ?? REASONS[name];
  if (reason !== undefined) return `${reason} (${code})`;
  // OpenSSL's own text has file names and numbers of its source.
  if (name !== '') return `TLS failed: ${name.toLowerCase().replaceAll('_', ' ')} (${code})`;
  return error.message;
}
