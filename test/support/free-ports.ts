/** Ports that nobody uses at this moment. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** A port that is free for TCP and UDP on 127.0.0.1. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = await tcpPort();
    if (await isFreeForUdp(port)) return port;
  }
  throw new Error('Cannot find a port that is free for TCP and UDP: 50 attempts failed');
}

function tcpPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function isFreeForUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}
