/** The port between a media thread and the network: UDP sockets, and a clock that sleeps no longer than packets allow. */
import type { Clock } from '../../lib/clock.ts';
import type { Source } from '../../rtp/source-lock.ts';

/** Takes what comes to a socket. An object and not a function: with hundreds of them, each thing to be fetched costs. */
export interface DatagramListener {
  /**
   * Takes a datagram. The bytes lie in memory that is used again for the next one: whoever needs them later copies them.
   *
   * @param source the same object as before, as far as the sockets can tell, when the sender is the same.
   * @param atMs when it was read, `Clock.nowMs()`; those that were read together have one instant.
   */
  onDatagram(datagram: Uint8Array, source: Source, atMs: number): void;

  /** Called with a datagram that `LineSocket.send` was given and the system did not take: within `send`, or soon after it. */
  onUnsent?(datagram: Uint8Array): void;
}

/** One bound UDP socket for IPv4. Takes what anybody sends, so that strangers are seen, and a NAT's true port can be learnt. */
export interface LineSocket {
  /** Says who takes what comes; until then it is thrown away. */
  listen(listener: DatagramListener): void;

  /**
   * Sends in this turn of the event loop or not at all: where the system has no room, or the datagram has more than
   * 2048 bytes, or the target is no IPv4 address or port 0, it is lost, and the listener is told. The bytes are the
   * caller's again when it returns.
   */
  send(datagram: Uint8Array, target: Source): void;

  /** No datagram is delivered after it. Safe to call twice. */
  close(): void;
}

/** All sockets of one thread. */
export interface LineSockets {
  readonly report: SocketsReport;

  /** The thread's clock: rings to the tenth of a millisecond, and lets packets in meanwhile. */
  readonly clock: Clock;

  /**
   * Takes a port.
   *
   * @throws {Error} with `code`: EADDRINUSE when it is taken, and the system's other errors.
   */
  bind(place: Source): Promise<LineSocket>;

  /** Closes all of them. Safe to call twice. */
  stop(): void;
}

/** Which sockets a thread has, and why. */
export interface SocketsReport {
  readonly name: 'epoll' | 'node:dgram';
  readonly reason: string;
  /** True where they stand in for better ones. */
  readonly isFallback: boolean;
}
