/** A connection that carries whole messages, such as a WebSocket; independent of HTTP. */

/** One end: an IP address without brackets, and a port. */
export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/** Receiver of messages and of the end. */
export interface MessageSocketListener {
  /** One whole message, whether its frames were text or binary. */
  message(bytes: Buffer): void;
  /** Called once, when either side has closed the connection. */
  closed(): void;
}

/** A connection that carries whole messages. */
export interface MessageSocket {
  /** Address and port of the peer; behind a proxy, of the proxy. */
  readonly remote: SocketEnd;
  readonly local: SocketEnd;
  /** Whether the peer came by TLS. */
  readonly isSecure: boolean;
  readonly isOpen: boolean;
  /** Bytes that were sent and have not left yet. */
  readonly unsentBytes: number;

  /** Sends one message, in order, without waiting. Does nothing on a closed connection. */
  send(bytes: Buffer): void;

  /** Sets the one listener; messages that came before are given to it at once. */
  listen(listener: MessageSocketListener): void;

  /** Closes politely. Safe to call twice. @param status by RFC 6455, 7.4. */
  close(status: number, why: string): void;
}
