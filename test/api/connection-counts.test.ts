/** What is counted of open connections, without a network. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionLimits } from '../../src/api/http/http-server.ts';

/** A connection as far as it is counted. */
class TestSocket extends EventEmitter {
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.emit('close');
  }
}

beforeEach(() => vi.useFakeTimers());

afterEach(() => vi.useRealTimers());

function open(limits: ConnectionLimits, remoteAddress: string): Socket & TestSocket {
  const socket = new TestSocket(remoteAddress) as Socket & TestSocket;
  limits.open(socket);
  return socket;
}

/** Opens so many connections, from as many addresses as that takes. */
function openMany(limits: ConnectionLimits, count: number): (Socket & TestSocket)[] {
  return Array.from({ length: count }, (_, index) => open(limits, `10.0.0.${index % 200}`));
}

test('ConnectionLimits keeps the 2,001st connection for health checks until another one closes', () => {
  const limits = new ConnectionLimits();
  const [first] = openMany(limits, 2000);

  const beyond = open(limits, '10.1.0.1');
  first?.destroy();
  const after = open(limits, '10.1.0.1');

  expect([limits.isReserved(beyond), limits.isReserved(after)]).toEqual([true, false]);
});

test('ConnectionLimits counts the connections of an address that stay when one closes', () => {
  const limits = new ConnectionLimits();
  const [first] = Array.from({ length: 256 }, () => open(limits, '10.0.0.1'));
  first?.destroy();

  const [within, beyond] = [open(limits, '10.0.0.1'), open(limits, '10.0.0.1')];

  expect([limits.isReserved(within), limits.isReserved(beyond)]).toEqual([false, true]);
});

test('ConnectionLimits closes a connection of the reserve after 2 s', () => {
  const limits = new ConnectionLimits();
  openMany(limits, 2000);
  const reserved = open(limits, '10.1.0.1');
  const closed = vi.fn();
  reserved.once('close', closed);

  vi.advanceTimersByTime(1999);
  const before = closed.mock.calls.length;
  vi.advanceTimersByTime(1);

  expect([before, closed.mock.calls.length]).toEqual([0, 1]);
  expect(limits.isReserved(reserved)).toBe(false);
});

test('ConnectionLimits closes the oldest of a full reserve of 128, and stops the clock of one that closed', () => {
  const limits = new ConnectionLimits();
  openMany(limits, 2000);
  const reserved = Array.from({ length: 128 }, () => open(limits, '10.1.0.1'));
  const isFull = reserved.every((socket) => limits.isReserved(socket));
  const timers = vi.getTimerCount();

  open(limits, '10.1.0.1');

  expect(isFull).toBe(true);
  expect(reserved.map((socket) => limits.isReserved(socket)).indexOf(true)).toBe(1);
  expect(vi.getTimerCount()).toBe(timers);
});

test.each([
  ['/healthz', false],
  ['/readyz?verbose=1', false],
  ['/api/agents', true],
  [undefined, true],
])('ConnectionLimits answers %s on the reserve: refused %o', (url, isRefused) => {
  const limits = new ConnectionLimits();
  const [counted] = openMany(limits, 2000);
  const reserved = open(limits, '10.1.0.1');
  const ask = (socket: Socket | undefined) => () =>
    limits.admit({ socket, url } as IncomingMessage);

  expect(ask(counted)).not.toThrow();
  if (isRefused) expect(ask(reserved)).toThrow('too many are open');
  else expect(ask(reserved)).not.toThrow();
});
