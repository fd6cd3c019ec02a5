/** The WebSockets of browsers at a real HTTP port: who is let in, what may come, and how it ends. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../sip/user-agents.ts';
import {
  closing,
  dial,
  openPhoneSockets,
  stopPhoneSockets,
} from '../support/dashboard/phone-sockets-world.ts';

afterEach(stopPhoneSockets);

test('PhoneSockets lets a ticket in, and passes messages on, text or binary, whole', async () => {
  const world = await openPhoneSockets();

  const webSocket = await dial(world);
  webSocket.send('one');
  webSocket.send(Buffer.from('two'), { binary: true });
  webSocket.send('thr', { fin: false });
  webSocket.send('ee', { fin: true });
  await eventually(() => world.lines[0]?.received.length === 3, 'three messages');

  expect(webSocket.protocol).toBe('sip');
  expect(world.lines).toMatchObject([
    { caller: { agentId: 'agent_front' }, received: ['one', 'two', 'three'] },
  ]);
  expect(world.lines[0]?.socket).toMatchObject({
    isSecure: true,
    local: { address: '127.0.0.1', port: world.port },
    remote: { address: '127.0.0.1', port: expect.any(Number) },
  });
});

test('PhoneSockets sends text as text, and what is no text in a binary frame', async () => {
  const world = await openPhoneSockets();
  const webSocket = await dial(world);
  const frames: boolean[] = [];
  webSocket.on('message', (_, isBinary) => frames.push(isBinary));

  world.lines[0]?.socket.send(Buffer.from('Grüße'));
  world.lines[0]?.socket.send(Buffer.from([0xff, 0xfe]));
  await eventually(() => frames.length === 2, 'two frames');

  expect(frames).toEqual([false, true]);
});

test.each([
  ['of a foreign page', { origin: 'https://evil.example' }, 403],
  ['that speaks no SIP', { protocol: 'chat' }, 400],
  ['with a wrong ticket', { ticket: 'wrong' }, 401],
])('PhoneSockets refuses a connection %s with the usual envelope', async (_, wish, status) => {
  const world = await openPhoneSockets();

  const refused = dial(world, wish);

  await expect(refused).rejects.toThrow(`${status} {"error"`);
  expect(world.lines).toEqual([]);
});

test('PhoneSockets takes a page that came by the very address that is asked', async () => {
  const world = await openPhoneSockets();

  const webSocket = await dial(world, { origin: `http://127.0.0.1:${world.port}` });

  expect(webSocket.readyState).toBe(WebSocket.OPEN);
  expect(world.lines[0]?.socket.isSecure).toBe(false);
});

test('PhoneSockets takes a ticket once, and none of a session that is over', async () => {
  const world = await openPhoneSockets();
  const ticket = world.newTicket();
  await dial(world, { ticket });

  const again = dial(world, { ticket });
  await expect(again).rejects.toThrow('401');
  world.state.isSessionAlive = false;

  await expect(dial(world)).rejects.toThrow('401');
});

test('PhoneSockets holds ten connections, and leaves the eleventh its ticket', async () => {
  const world = await openPhoneSockets();
  for (let count = 0; count < 10; count += 1) await dial(world);
  const ticket = world.newTicket();

  await expect(dial(world, { ticket })).rejects.toThrow('503');
  world.lines[0]?.socket.close(1000, 'done');
  await eventually(() => world.lines[0]?.isClosed === true, 'one has gone');

  expect((await dial(world, { ticket })).readyState).toBe(WebSocket.OPEN);
});

test('PhoneSockets closes on a message over 16 KiB, and on more than 50 in a second', async () => {
  const world = await openPhoneSockets();
  const [large, many] = [await dial(world), await dial(world)];
  const closed = [closing(large), closing(many)];

  large.send('x'.repeat(16 * 1024 + 1));
  for (let count = 0; count < 51; count += 1) many.send('x');

  expect(await Promise.all(closed)).toEqual([1009, 1008]);
  await eventually(() => world.lines.every(({ isClosed }) => isClosed), 'SIP is told');
});

test('PhoneSockets hangs up and closes when the session is over', async () => {
  const world = await openPhoneSockets();
  const webSocket = await dial(world);
  const closed = closing(webSocket);

  world.state.isSessionAlive = false;
  world.clock.advance(2_000);

  expect(await closed).toBe(4001);
  expect(world.lines[0]?.hangUps).toBe(1);
});

test('PhoneSockets gives up a browser that answers no ping, and keeps one that does', async () => {
  const world = await openPhoneSockets();
  let pings = 0;
  const onPing = () => {
    pings += 1;
  };
  await dial(world, { onPing });
  await dial(world, { isDeaf: true });

  for (let round = 1; round <= 9; round += 1) {
    await eventually(() => pings >= round, `ping number ${round}`);
    world.clock.advance(2_000);
  }
  await eventually(() => world.lines[1]?.isClosed === true, 'the deaf one is given up');

  expect(world.lines[0]?.isClosed).toBe(false);
});

test('HttpServer.stop closes the WebSockets politely', async () => {
  const world = await openPhoneSockets();
  const closed = closing(await dial(world));

  const stopped = world.server.stop();

  expect(await closed).toBe(1001);
  await stopped;
});

test('HttpServer answers a wish for another protocol as if it had not been made', async () => {
  const { port } = await openPhoneSockets();

  const answer = await new Promise<string>((resolve, reject) => {
    const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' };
    const asked = request({ port, host: '127.0.0.1', path: '/other', headers }, (response) => {
      response.setEncoding('utf8');
      response.on('data', resolve);
    });
    asked.on('error', reject);
    asked.end();
  });

  expect(answer).toBe('plain');
});

test('HttpServer survives a connection that breaks off in the middle of its upgrade', async () => {
  const world = await openPhoneSockets();
  const socket = connect(world.port, '127.0.0.1');
  socket.write(
    `GET /dashboard/sip?ticket=${world.newTicket()} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n` +
      'Upgrade: websocket\r\nSec-WebSocket-Protocol: sip\r\n\r\n',
  );
  socket.resetAndDestroy();

  expect((await dial(world)).readyState).toBe(WebSocket.OPEN);
});
