/** One TCP connection without a network: what it delivers, whom it answers, and when it is given up. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { StreamFrame } from '../../src/sip/parser/stream-framer.ts';
import { TcpConnection } from '../../src/sip/transport/tcp-connection.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request } from './messages.ts';

const LIMITS = { idleMs: 1000, messageMs: 300, unsentBytesMax: 100 };

/** A socket that remembers what is done with it. */
class FakeSocket extends EventEmitter {
  readonly did: string[] = [];
  writable = true;
  writableLength = 0;

  setNoDelay(isOn: boolean): void {
    this.did.push(`no delay ${isOn}`);
  }

  setKeepAlive(isOn: boolean, afterMs: number): void {
    this.did.push(`keep alive ${isOn} ${afterMs}`);
  }

  pause(): void {
    this.did.push('pause');
  }

  resume(): void {
    this.did.push('resume');
  }

  write(bytes: Buffer): void {
    this.did.push(`write ${JSON.stringify(bytes.toString())}`);
  }

  destroy(): void {
    this.did.push('destroy');
  }

  destroySoon(): void {
    this.did.push('destroy soon');
  }
}

function open() {
  const clock = new FakeClock(5000);
  const socket = new FakeSocket();
  const frames: StreamFrame[] = [];
  let closed = 0;
  const connection = new TcpConnection({
    protocol: 'TCP',
    ...{ clock, socket: socket as unknown as Socket, limits: LIMITS },
    remote: { address: '192.0.2.1', port: 5060 },
    localFor: () => ({ address: '192.0.2.2', port: 5060 }),
    onFrame: (frame) => frames.push(frame),
    onClose: () => {
      closed += 1;
    },
  });
  const setUp = socket.did.splice(0);
  const comes = (text: string) => socket.emit('data', Buffer.from(text));
  return { clock, socket, frames, connection, comes, setUp, closes: () => closed };
}

const MESSAGE = request('OPTIONS').toBuffer().toString();
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('TcpConnection sends without delay and has the kernel look after its peer', () => {
  expect(open().setUp).toEqual(['no delay true', 'keep alive true 60000']);
});

test('TcpConnection delivers one message a turn, and lets the peer wait meanwhile', async () => {
  const { socket, frames, comes } = open();
  comes(MESSAGE + MESSAGE);
  comes(MESSAGE);
  const first = frames.length;

  await turn();
  const second = frames.length;
  await turn();
  await turn();

  expect([first, second, frames.length]).toEqual([1, 2, 3]);
  expect(socket.did).toEqual(['pause', 'pause', 'resume']);
});

test('TcpConnection answers a double line break with a single one', async () => {
  const { socket, frames, comes } = open();

  comes('\r\n\r\n');
  await turn();

  expect(socket.did).toEqual(['write "\\r\\n"', 'resume']);
  expect(frames).toEqual([]);
});

test('TcpConnection takes the answer to its keep-alive for no keep-alive of the peer', async () => {
  const { clock, socket, connection, comes } = open();

  for (let turns = 0; turns < 2; turns += 1) {
    connection.keepAlive();
    comes('\r\n');
    await turn();
    clock.advance(600);
  }

  expect(socket.did.filter((did) => did.startsWith('write'))).toEqual(['write "\\r\\n\\r\\n"']);
});

test('TcpConnection sends its keep-alive behind what is still unsent', () => {
  const { socket, connection } = open();
  socket.writableLength = 1;

  connection.keepAlive();

  expect(socket.did).toEqual(['write "\\r\\n\\r\\n"']);
});

test('TcpConnection answers a keep-alive that crosses its own', async () => {
  const { socket, connection, comes } = open();

  connection.keepAlive();
  comes('\r\n\r\n');
  await turn();

  expect(socket.did).toContain('write "\\r\\n"');
});

test('TcpConnection answers no line breaks while the peer leaves things unread', async () => {
  const { socket, comes } = open();
  socket.writableLength = 1;

  comes('\r\n\r\n');
  await turn();

  expect(socket.did).toEqual(['resume']);
});

test('TcpConnection delivers nothing more once it is closed', async () => {
  const { frames, comes, connection } = open();
  comes(MESSAGE + MESSAGE);

  connection.abort();
  await turn();

  expect(frames).toHaveLength(1);
});

test.each([
  [100, ['write "x"']],
  [101, ['destroy']],
])('TcpConnection with %d octets unread by the peer does %j', (unsent, expected) => {
  const { socket, connection } = open();
  socket.writableLength = unsent;

  try {
    connection.send(Buffer.from('x'));
  } catch (error) {
    expect(String(error)).toContain('peer has stopped reading');
  }

  expect(socket.did).toEqual(expected);
  expect(connection.isOpen).toBe(unsent === 100);
});

test.each([
  ['closed', (connection: TcpConnection) => connection.close()],
  ['aborted', (connection: TcpConnection) => connection.abort()],
])('TcpConnection that is %s says so once, and waits for nothing', (_, end) => {
  const { clock, connection, closes } = open();
  let told = 0;
  connection.onClosed(() => {
    told += 1;
  });
  const forget = connection.onClosed(() => {
    told += 100;
  });
  forget();

  end(connection);
  end(connection);

  expect([told, closes(), connection.isOpen, clock.waiting]).toEqual([1, 1, false, 0]);
  expect(() => connection.send(Buffer.from('x'))).toThrow('connection is closed');
});

test('TcpConnection whose peer breaks off is closed, and no fault of ours', () => {
  const { socket, connection, closes } = open();

  socket.emit('error', new Error('ECONNRESET'));
  const before = closes();
  socket.emit('close');

  expect([before, closes(), connection.isOpen]).toEqual([0, 1, false]);
});

test('TcpConnection is not open once the peer has ended its side', () => {
  const { socket, connection } = open();
  socket.writable = false;

  expect(connection.isOpen).toBe(false);
});

test('TcpConnection is closed after a silence, counted from what came last', async () => {
  const { clock, connection, comes } = open();
  clock.advance(600);
  comes(MESSAGE);
  await turn();

  clock.advance(999);
  const before = connection.isOpen;
  clock.advance(1);

  expect([before, connection.isOpen]).toEqual([true, false]);
});

test('TcpConnection in use stays open, and is closed an idle time after its last use', () => {
  const { clock, connection } = open();
  const forget = connection.onClosed(() => undefined);
  clock.advance(1500);
  forget();

  clock.advance(499);
  const before = connection.isOpen;
  clock.advance(1);

  expect([before, connection.isOpen]).toEqual([true, false]);
});

test('TcpConnection gives up a message that is not whole in time, however it drips', async () => {
  const { clock, connection, comes } = open();
  comes('OPTIONS ');
  clock.advance(200);
  comes('sip:a@b');
  await turn();

  clock.advance(99);
  const before = connection.isOpen;
  clock.advance(1);

  expect([before, connection.isOpen]).toEqual([true, false]);
});

test('TcpConnection counts the time of each message by itself', async () => {
  const { clock, connection, comes } = open();
  comes(MESSAGE.slice(0, 10));
  clock.advance(200);
  comes(`${MESSAGE.slice(10)}OPT`);
  clock.advance(200);
  comes(`${MESSAGE.slice(3)}`);
  await turn();
  await turn();

  clock.advance(400);

  expect(connection.isOpen).toBe(true);
});
