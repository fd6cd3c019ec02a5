/** One WebSocket of a browser as SIP sees it, without a network. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { PhoneSocket } from '../../src/operator/phone-sockets.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

/** A WebSocket that records the calls to its methods. */
class TestWebSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 7;
  readonly asked: string[] = [];

  send(bytes: Buffer, { binary }: { readonly binary: boolean }): void {
    this.asked.push(`send ${bytes.length} ${binary ? 'binary' : 'text'}`);
  }

  close(status: number, why: string): void {
    this.asked.push(`close ${status} ${why}`);
  }

  terminate(): void {
    this.asked.push('terminate');
  }

  ping(): void {
    this.asked.push('ping');
  }
}

function openSocket(origin?: string, connection: object = {}) {
  const clock = new FakeClock();
  const webSocket = new TestWebSocket();
  const seen = { messages: [] as string[], closed: 0, onClosed: 0 };
  const socket = new PhoneSocket({
    webSocket: webSocket as unknown as WebSocket,
    request: { headers: { origin }, socket: connection } as IncomingMessage,
    clock,
    onClosed: () => {
      seen.onClosed += 1;
    },
  });
  socket.listen({
    message: (bytes) => seen.messages.push(bytes.toString()),
    closed: () => {
      seen.closed += 1;
    },
  });
  const receive = (count: number) => {
    for (let sent = 0; sent < count; sent += 1) webSocket.emit('message', Buffer.from('x'));
  };
  return { clock, webSocket, socket, seen, receive };
}

test('PhoneSocket names both ends, an IPv4 address as such', () => {
  const { socket } = openSocket(undefined, {
    remoteAddress: '::ffff:192.0.2.1',
    remotePort: 4000,
    localAddress: '2001:db8::1',
    localPort: 3000,
  });

  expect(socket.remote).toEqual({ address: '192.0.2.1', port: 4000 });
  expect(socket.local).toEqual({ address: '2001:db8::1', port: 3000 });
  expect(openSocket().socket.remote).toEqual({ address: '', port: 0 });
});

test.each([
  ['https://phones.example', true],
  ['http://phones.example', false],
  [undefined, false],
])('PhoneSocket of a page of %s is secure: %o', (origin, isSecure) => {
  expect(openSocket(origin).socket.isSecure).toBe(isSecure);
});

test('PhoneSocket sends text as text, other bytes as such, and nothing once it is closed', () => {
  const { socket, webSocket } = openSocket();

  socket.send(Buffer.from('Grüße'));
  socket.send(Buffer.from([0xff]));
  webSocket.readyState = 2;
  socket.send(Buffer.from('late'));

  expect(webSocket.asked).toEqual(['send 7 text', 'send 1 binary']);
  expect([socket.isOpen, socket.unsentBytes]).toEqual([false, 7]);
});

test('PhoneSocket passes on whole messages, in whatever form they come, while it is open', () => {
  const { webSocket, seen } = openSocket();

  webSocket.emit('message', [Buffer.from('on'), Buffer.from('e')]);
  webSocket.emit('message', new TextEncoder().encode('two').buffer);
  webSocket.readyState = 2;
  webSocket.emit('message', Buffer.from('late'));

  expect(seen.messages).toEqual(['one', 'two']);
});

test('PhoneSocket closes on the 51st message of a second, and does not pass it on', () => {
  const { clock, webSocket, seen, receive } = openSocket();

  receive(50);
  clock.advance(999);
  const before = [...webSocket.asked];
  receive(1);

  expect(before).toEqual([]);
  expect(webSocket.asked).toEqual(['close 1008 too many messages']);
  expect(seen.messages).toHaveLength(50);
});

test('PhoneSocket counts messages again after each second', () => {
  const { clock, webSocket, seen, receive } = openSocket();

  receive(50);
  clock.advance(1000);
  receive(50);
  clock.advance(1000);
  receive(50);

  expect(webSocket.asked).toEqual([]);
  expect(seen.messages).toHaveLength(150);
});

test('PhoneSocket gives up after eight pings without an answer; an answer begins the count again', () => {
  const { socket, webSocket } = openSocket();
  const probe = (count: number) => {
    for (let round = 0; round < count; round += 1) socket.probe();
  };

  probe(8);
  webSocket.emit('pong');
  probe(8);
  const before = [...webSocket.asked];
  probe(1);

  expect(before).toEqual(Array(16).fill('ping'));
  expect(webSocket.asked.at(-1)).toBe('terminate');
});

test('PhoneSocket cuts the connection where a close is not answered within 2 s', () => {
  const { clock, socket, webSocket } = openSocket();

  socket.close(1001, 'the server stops');
  clock.advance(1999);
  const before = [...webSocket.asked];
  clock.advance(1);

  expect(before).toEqual(['close 1001 the server stops']);
  expect(webSocket.asked.at(-1)).toBe('terminate');
});

test('PhoneSocket tells of its close, stops its clock, and survives an error', () => {
  const { clock, socket, webSocket, seen } = openSocket();
  socket.close(1001, 'the server stops');

  webSocket.emit('error', new Error('reset'));
  webSocket.emit('close');

  expect([seen.onClosed, seen.closed, clock.waiting]).toEqual([1, 1, 0]);
});
