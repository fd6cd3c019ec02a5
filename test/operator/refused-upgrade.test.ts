import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../sip/user-agents.ts';
import { openPhoneSockets, stopPhoneSockets } from '../support/dashboard/phone-sockets-world.ts';

const WISH = [
  'GET /dashboard/sip HTTP/1.1',
  'Host: phones.example',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

afterEach(stopPhoneSockets);

test('HttpServer lets go of a refused upgrade whose client does not hang up', async () => {
  const world = await openPhoneSockets();
  const client = connect({ host: '127.0.0.1', port: world.port, allowHalfOpen: true });
  let answer = '';
  let isAnswered = false;
  let isGone = false;
  client.on('data', (bytes) => {
    answer += bytes.toString();
  });
  client.on('end', () => {
    isAnswered = true;
  });
  client.on('error', () => undefined);
  client.on('close', () => {
    isGone = true;
  });
  client.write(`${WISH.join('\r\n')}\r\n\r\n`);
  await eventually(() => isAnswered, 'the answer');

  world.clock.advance(2_000);

  await eventually(() => {
    // The server no longer reads it.
    if (!isGone) client.write('x');
    return isGone;
  }, 'the end of the connection');
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
});
