/** UDP transport: one socket, and the flows over it. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { SipError } from '../message/status.ts';
import { type AddressFor, type Endpoint, type Flow, listenError, PING } from './flow.ts';

/** The part of a datagram socket that is used here, so that tests can lose packets. */
export interface UdpSocket {
  bind(port: number, address: string, listening: () => void): unknown;
  send(bytes: Buffer, port: number, address: string, sent: (error: Error | null) => void): void;
  close(closed: () => void): unknown;
  address(): { readonly port: number };
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'message', listener: (bytes: Buffer, source: RemoteInfo) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** Opens an unbound socket for the family of the address. */
export type OpenUdpSocket = (address: string) => UdpSocket;

/** A datagram can carry no more. RFC 768, less the headers of UDP and IP. */
const DATAGRAM_BYTES_MAX = 65_507;

/** Shorter datagrams are keep-alives or noise: no start line is shorter. */
const DATAGRAM_BYTES_MIN = 16;

/** Room for a burst while the process is busy: some 4,000 messages. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

/** Opens a socket that never looks names up: only addresses are handed to it. */
export const openUdpSocket: OpenUdpSocket = (address) => {
  const family = isIPv6(address) ? 6 : 4;
  return createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    // IPv4 has its own socket: on an IPv6 socket its addresses would look like `::ffff:192.0.2.1`.
    ipv6Only: family === 6,
    recvBufferSize: SOCKET_BUFFER_BYTES,
    sendBufferSize: SOCKET_BUFFER_BYTES,
    lookup: (host, _options, done) => done(null, host, family),
  });
};

interface UdpTransportOptions {
  readonly address: string;
  readonly port: number;
  readonly addressFor: AddressFor;
  readonly openSocket: OpenUdpSocket;
  readonly onDatagram: (bytes: Buffer, flow: Flow) => void;
  /** A datagram that could not be sent, or trouble of the socket itself. */
  readonly onError: (error: Error) => void;
}

/** One UDP socket. */
export class UdpTransport {
  readonly protocol = 'UDP';
  readonly #options: UdpTransportOptions;
  readonly #socket: UdpSocket;
  /** One for all datagrams. */
  readonly #onSent = (error: Error | null): void => {
    if (error) this.#options.onError(error);
  };
  #port: number;
  #isOpen = false;

  constructor(options: UdpTransportOptions) {
    this.#options = options;
    this.#socket = options.openSocket(options.address);
    this.#port = options.port;
  }

  /** Bound address, as opposed to the advertised one. */
  get bound(): Endpoint {
    return { address: this.#options.address, port: this.#port };
  }

  /** Advertised address. */
  localFor({ address: farEnd }: Endpoint): Endpoint {
    const { address, addressFor } = this.#options;
    return { address: addressFor(address, farEnd), port: this.#port };
  }

  /** Whether the flow goes over this socket. */
  made(flow: Flow): boolean {
    return flow instanceof UdpFlow && flow.transport === this;
  }

  /** @throws {SipError} 503 when address and port are not available. */
  async start(): Promise<void> {
    const { address, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: Error) => reject(listenError('UDP', { address, port }, cause));
      this.#socket.on('error', fail);
      this.#socket.bind(port, address, () => {
        this.#socket.off('error', fail);
        resolve();
      });
    });
    this.#port = this.#socket.address().port;
    this.#isOpen = true;
    this.#socket.on('error', this.#options.onError);
    this.#socket.on('message', (bytes: Buffer, source: RemoteInfo) => {
      if (bytes.length >= DATAGRAM_BYTES_MIN) this.#options.onDatagram(bytes, this.flowTo(source));
    });
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  flowTo({ address, port }: Endpoint): Flow {
    return new UdpFlow(this, { address, port });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(bytes: Buffer, remote: Endpoint): void {
    if (!this.#isOpen) throw new SipError(503, 'Cannot send by UDP: socket is closed');
    // The source of a forged datagram, or the target of a forged SRV record.
    if (remote.port === 0) throw new SipError(503, 'Cannot send by UDP: port 0 is no destination');
    if (bytes.length > DATAGRAM_BYTES_MAX) {
      throw new SipError(513, `Cannot send ${bytes.length} bytes by UDP: too many for a datagram`);
    }
    this.#socket.send(bytes, remote.port, remote.address, this.#onSent);
  }
}

class UdpFlow implements Flow {
  readonly protocol = 'UDP';
  readonly isReliable = false;
  readonly remote: Endpoint;
  readonly transport: UdpTransport;

  constructor(transport: UdpTransport, remote: Endpoint) {
    this.transport = transport;
    this.remote = remote;
  }

  get local(): Endpoint {
    return this.transport.localFor(this.remote);
  }

  get isOpen(): boolean {
    return this.transport.isOpen;
  }

  send(bytes: Buffer): void {
    this.transport.send(bytes, this.remote);
  }

  keepAlive(): void {
    if (this.isOpen) this.send(PING);
  }

  /** Never calls the listener: the socket closes only when the user agent stops, which ends all dialogs. */
  onClosed(): () => void {
    return () => undefined;
  }

  close(): void {}
}
