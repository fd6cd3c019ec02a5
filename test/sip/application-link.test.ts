/** What an application is told over its connection: in order, and what is said in one turn of the event loop in one write. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import {
  ApplicationLink,
  FrameReader,
} from '../../src/sip/drachtio-server/application-connection.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function open() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  const [socket] = await once(server, 'connection');
  closers.push(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  const link = new ApplicationLink({
    socket,
    clock: systemClock,
    logger: silentLogger,
    onCommand: () => undefined,
    onClosed: () => undefined,
  });
  return { client, socket, link };
}

test('ApplicationLink sends what is said in one turn of the event loop in one write', async () => {
  const { client, socket, link } = await open();

  link.accept('first');
  await Promise.resolve();
  link.accept('second');
  const sentBefore = socket.bytesWritten - socket.writableLength;
  const [chunk] = await once(client, 'data');

  expect(sentBefore).toBe(0);
  expect(new FrameReader().push(chunk).map((frame) => frame.toString().split('|')[2])).toEqual([
    'first',
    'second',
  ]);
  expect(socket.writableCorked).toBe(0);
});

test('ApplicationLink sends what was said before its end', async () => {
  const { client, link } = await open();

  link.accept('last');
  link.end();
  const [chunk] = await once(client, 'data');

  expect(chunk.toString()).toMatch(/\|response\|last\|OK$/);
});
