/** Tries a thread's sockets with a real packet each way, since a sandbox may refuse some of their system calls. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { LineSocket, LineSockets } from './line-sockets.ts';

const LOOPBACK = '127.0.0.1';

/** Loopback needs less than a millisecond; the rest is for a machine that is busy with its start. */
const ANSWER_MS_MAX = 2000;

/**
 * Sends a packet to a socket of Node's on loopback and waits for the answer.
 *
 * @throws {Error} when the packet or its answer gets lost, or no port can be taken.
 */
export async function trySockets(sockets: LineSockets): Promise<void> {
  const echo = createSocket('udp4');
  try {
    echo.bind(0, LOOPBACK);
    await once(echo, 'listening');
    const socket = await sockets.bind({ address: LOOPBACK, port: 0 });
    await exchange(socket, echo).finally(() => socket.close());
  } finally {
    echo.close();
  }
}

function exchange(socket: LineSocket, echo: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const limit = setTimeout(
    () => reject(new Error(`a trial packet had no answer within ${ANSWER_MS_MAX} ms`)),
    ANSWER_MS_MAX,
  );
  echo.on('message', (packet, { address, port }) => echo.send(packet, port, address));
  echo.on('error', reject);
  socket.listen({
    onDatagram: () => resolve(),
    onUnsent: () => reject(new Error('the system did not send a trial packet')),
  });
  socket.send(Uint8Array.of(0), echo.address());
  return promise.finally(() => clearTimeout(limit));
}
