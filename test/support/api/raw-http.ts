/** A connection to our HTTP server on which tests write what they like. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { HttpServer, type HttpServerOptions } from '../../../src/api/http/http-server.ts';
import { systemClock } from '../../../src/lib/clock.ts';

/** Connects to a server of this application, for the length of a test. */
export async function connectTo(
  fetch: HttpServerOptions['fetch'],
  options: Partial<HttpServerOptions> = {},
): Promise<Socket> {
  const parts = { host: '127.0.0.1', port: 0, newId: () => 'req_0', clock: systemClock };
  const server = new HttpServer({ ...parts, fetch, ...options });
  const port = await server.start();
  onTestFinished(() => server.stop());
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the server hangs up. */
export async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (piece: string) => {
    text += piece;
  });
  await once(socket, 'close');
  return text;
}
