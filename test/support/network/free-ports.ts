/** Ports that nobody uses at this moment. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below what systems give to sockets that want any port, so that none of those takes it meanwhile. */
const FIRST = 10_000;
const COUNT = 6000;

/** `fetch` refuses it. @see https://fetch.spec.whatwg.org/#port-blocking: the only one of these ports */
const BLOCKED = 10_080;

/** Where this process looks next: others begin elsewhere, and none is given out twice. */
let offset = Math.floor(Math.random() * COUNT);

/** A port that is free for TCP and UDP on 127.0.0.1; the next one, where SIP programs have their TLS, is not given out. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    offset = (offset + 2) % COUNT;
    const port = FIRST + offset;
    if (port === BLOCKED) continue;
    if ((await isFreeForTcp(port)) && (await isFreeForUdp(port))) return port;
  }
  throw new Error('Cannot find a port that is free for TCP and UDP: 50 attempts failed');
}

function isFreeForTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeForUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}
