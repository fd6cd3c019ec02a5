/** The STUN client on the wire: what it asks, which answers count, and that it gives up. */

import { randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import {
  askStun,
  bindingRequest,
  parseStunServer,
  readBindingResponse,
} from '../../src/lib/stun-client.ts';

/** RFC 5769, 2.2: the answer with IPv4; its transaction is that of the request. */
const SAMPLE = Buffer.from(
  '0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220' +
    '002000080001a147e112a643000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96',
  'hex',
);
const TRANSACTION = SAMPLE.subarray(8, 20);

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

type Answer = (request: Buffer, from: RemoteInfo, index: number) => void;

async function openUdp(onMessage: Answer = () => undefined) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'listening');
  let count = 0;
  socket.on('message', (bytes, from) => {
    count += 1;
    onMessage(bytes, from, count);
  });
  return { socket, port: socket.address().port, count: () => count };
}

const ask = (port: number) =>
  askStun({ host: '127.0.0.1', port }, { from: '127.0.0.1', randomBytes });

/** A success response with the attributes. */
function response(transaction: Buffer, ...attributes: readonly Buffer[]): Buffer {
  const body = Buffer.concat(attributes);
  const head = Buffer.from(bindingRequest(transaction));
  head.writeUInt16BE(0x0101, 0);
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

const mapped = (...address: readonly number[]) =>
  Buffer.from([0x00, 0x01, 0, 8, 0, 1, 0x13, 0xc4, ...address]);

test('readBindingResponse reads the sample of RFC 5769', () => {
  expect(readBindingResponse(SAMPLE, TRANSACTION)).toBe('192.0.2.1');
});

test('readBindingResponse reads MAPPED-ADDRESS where there is no other, after unknown attributes', () => {
  const unknown = Buffer.from([0x80, 0x22, 0, 3, 1, 2, 3, 0]);

  const address = readBindingResponse(
    response(TRANSACTION, unknown, mapped(203, 0, 113, 10)),
    TRANSACTION,
  );

  expect(address).toBe('203.0.113.10');
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a request', bindingRequest(TRANSACTION)],
  ['another transaction', response(randomBytes(12), mapped(203, 0, 113, 10))],
  ['no address', response(TRANSACTION)],
  ['an address of IPv6', response(TRANSACTION, Buffer.from([0, 1, 0, 8, 0, 2, 0, 1, 1, 2, 3, 4]))],
  ['an attribute that is cut off', response(TRANSACTION, Buffer.from([0, 1, 0, 8, 0, 1]))],
  ['octets at its end', Buffer.concat([SAMPLE, Buffer.from([0])])],
])('readBindingResponse takes %s for no answer', (_what, bytes) => {
  expect(readBindingResponse(bytes, TRANSACTION)).toBeUndefined();
});

test('readBindingResponse reads no answer from any beginning of one, and never throws', () => {
  for (let length = 0; length < SAMPLE.length; length += 1) {
    expect(readBindingResponse(SAMPLE.subarray(0, length), TRANSACTION)).toBeUndefined();
  }
  for (let round = 0; round < 5000; round += 1) {
    const noise = Buffer.from(SAMPLE);
    for (const at of randomBytes(4)) noise[20 + (at % (noise.length - 20))] = at;
    expect(() => readBindingResponse(noise, TRANSACTION)).not.toThrow();
  }
});

test('askStun sends a Binding request, and again when it is lost', async () => {
  const asked: Buffer[] = [];
  const server = await openUdp((request, from, index) => {
    asked.push(request);
    if (index < 2) return;
    server.socket.send(
      response(request.subarray(8, 20), mapped(203, 0, 113, 10)),
      from.port,
      from.address,
    );
  });

  const address = await ask(server.port);

  expect(address).toBe('203.0.113.10');
  expect(asked.map((bytes) => bytes.subarray(0, 8).toString('hex'))).toEqual([
    '000100002112a442',
    '000100002112a442',
  ]);
  expect(asked[0]).toEqual(asked[1]);
});

test('askStun takes no answer from another host or port, and none to another request', async () => {
  const stranger = await openUdp();
  const server = await openUdp((request, from) => {
    const transaction = request.subarray(8, 20);
    stranger.socket.send(response(transaction, mapped(6, 6, 6, 6)), from.port, from.address);
    server.socket.send(response(randomBytes(12), mapped(6, 6, 6, 7)), from.port, from.address);
    setTimeout(() => {
      server.socket.send(response(transaction, mapped(203, 0, 113, 10)), from.port, from.address);
    }, 100);
  });

  expect(await ask(server.port)).toBe('203.0.113.10');
});

test('askStun gives up after four requests without an answer', async () => {
  const server = await openUdp();

  await expect(ask(server.port)).rejects.toThrow('no answer');

  expect(server.count()).toBe(4);
});

test('askStun rejects when no network leads to the server', async () => {
  const server = { host: '192.0.2.1', port: 3478 };

  // Packets of the loopback address leave this machine by no network.
  await expect(askStun(server, { from: '127.0.0.1', randomBytes })).rejects.toThrow('EINVAL');
});

test.each([
  ['stun.example.com', { host: 'stun.example.com', port: 3478 }],
  ['203.0.113.5:19302', { host: '203.0.113.5', port: 19302 }],
  ['stun.example.com:0', undefined],
  ['stun.example.com:65536', undefined],
  ['stun:stun.example.com', undefined],
  ['[2001:db8::1]:3478', undefined],
  ['', undefined],
])('parseStunServer reads "%s"', (text, server) => {
  expect(parseStunServer(text)).toEqual(server);
});
