/** Port between a media thread and the network: UDP sockets for RTP and RTCP, and a clock that wakes between packets. */
import type { Clock } from '../../lib/clock.ts';
import type { Source } from '../../rtp/source-lock.ts';

/** Receives a socket's datagrams. An object rather than a function, since a session is its own listener. */
export interface DatagramListener {
  /**
   * Takes one datagram. Its memory is reused for the next datagram: copy the bytes to keep them.
   *
   * @param source the same object as before while the sender is the same.
   * @param atMs time of reading, `Clock.nowMs()`; datagrams read together share it.
   */
  onDatagram(datagram: Uint8Array, source: Source, atMs: number): void;

  /** Reports a datagram that the system did not accept: during `send`, or soon after it. */
  onUnsent?(datagram: Uint8Array): void;
}

/** One bound IPv4 UDP socket. It is not connected, so that packets from strangers and from behind NAT are seen. */
export interface RtpSocket {
  /** Sets the listener; datagrams that come earlier are dropped. */
  listen(listener: DatagramListener): void;

  /**
   * Sends now or not at all. The datagram is lost, and `onUnsent` called, when the system has no room, when it has more
   * than 2048 bytes, and when the target is not an IPv4 address or has port 0. The bytes may be reused on return.
   */
  send(datagram: Uint8Array, target: Source): void;

  /** Stops delivery and frees the port. Safe to call twice. */
  close(): void;
}

/** All sockets of one media thread. */
export interface RtpSockets {
  readonly report: SocketsReport;

  /** Clock of the thread; packets are read while it waits. */
  readonly clock: Clock;

  /**
   * Binds a port.
   *
   * @throws {Error} with the system's `code`, such as EADDRINUSE.
   */
  bind(place: Source): Promise<RtpSocket>;

  /** Closes every socket. Safe to call twice. */
  stop(): void;
}

/** The kind of sockets in use, for the log and `/readyz`. */
export interface SocketsReport {
  readonly name: 'epoll' | 'node:dgram';
  /** Why this kind was chosen. */
  readonly reason: string;
}
