import { expect, test } from 'vitest';
import { type Source, SourceLock } from '../../src/rtp/source-lock.ts';

const EXPECTED = { address: '10.0.0.1', port: 4000, signallingAddress: '192.0.2.1' };
const BEHIND_NAT = { address: '192.0.2.1', port: 61_000 };
const STRANGER = { address: '198.51.100.9', port: 4000 };
const SSRC = 1;

/** Sends packets 20 ms apart; returns how many were believed. */
function send(
  lock: SourceLock,
  source: Source,
  options: { count: number; fromMs?: number; step?: number; ssrc?: number },
): number {
  const { count, fromMs = 0, step = 1, ssrc = SSRC } = options;
  return Array.from({ length: count }, (_, index) =>
    lock.accept(source, { ssrc, sequence: (65_534 + index * step) & 0xffff }, fromMs + index * 20),
  ).filter((isBelieved) => isBelieved).length;
}

function lockExpecting(): SourceLock {
  const lock = new SourceLock();
  lock.expect(EXPECTED, 0);
  return lock;
}

test('SourceLock believes the address of the SDP at once', () => {
  const lock = lockExpecting();

  const believed = send(lock, EXPECTED, { count: 1 });

  expect(believed).toBe(1);
});

test('SourceLock believes nobody before there is SDP', () => {
  const lock = new SourceLock();

  const believed = send(lock, EXPECTED, { count: 10 });

  expect(believed).toBe(0);
  expect(lock.target).toBeUndefined();
});

test.each([
  ['the host of signalling', BEHIND_NAT],
  ['another port of the host of the SDP', { address: '10.0.0.1', port: 4002 }],
])('SourceLock believes %s from the fourth packet in sequence on', (_name, source) => {
  const lock = lockExpecting();

  const believed = send(lock, source, { count: 5 });

  expect(believed).toBe(2);
  expect(lock.rejected).toBe(3);
  expect(lock.target).toEqual(source);
});

test('SourceLock believes another host of the carrier from the fourth packet on, within 5 s, and no stranger then', () => {
  const carrier = { check: (address: string) => address === '203.0.113.77' };
  const host = { address: '203.0.113.77', port: 4000 };
  const [early, late] = [new SourceLock(), new SourceLock()];
  for (const lock of [early, late]) lock.expect({ ...EXPECTED, carrier }, 0);

  const believed = [
    send(early, host, { count: 5 }),
    send(early, STRANGER, { count: 20, fromMs: 100 }),
    send(late, host, { count: 5, fromMs: 5001 }),
  ];

  expect(believed).toEqual([2, 0, 0]);
  expect(early.target).toEqual(host);
});

test.each([
  ['a stranger', STRANGER, {}],
  ['port 0, to which nothing can be sent', { address: '10.0.0.1', port: 0 }, {}],
  ['the host of signalling with gaps in the sequence', BEHIND_NAT, { step: 2 }],
  ['the host of signalling after 5 s', BEHIND_NAT, { fromMs: 5001 }],
])('SourceLock does not believe %s', (_name, source, options) => {
  const lock = lockExpecting();

  const believed = send(lock, source, { count: 50, ...options });

  expect(believed).toBe(0);
  expect(lock.rejected).toBe(50);
  expect(lock.target).toMatchObject({ address: '10.0.0.1', port: 4000 });
});

test('SourceLock wants the four packets to have one SSRC', () => {
  const lock = lockExpecting();

  const believed = [1, 2, 3, 4].map((ssrc) => send(lock, BEHIND_NAT, { count: 3, ssrc }));

  expect(believed).toEqual([0, 0, 0, 0]);
});

test('SourceLock stays with the source that it believed while that one is heard', () => {
  const lock = lockExpecting();
  send(lock, BEHIND_NAT, { count: 4 });

  const believed = send(lock, { ...BEHIND_NAT, port: 61_002 }, { count: 50, fromMs: 80 });

  expect(believed).toBe(0);
  expect(lock.target).toEqual(BEHIND_NAT);
});

test('SourceLock lets another port of the same host prove itself after 2 s of silence', () => {
  const lock = lockExpecting();
  send(lock, BEHIND_NAT, { count: 4 });
  const moved = { ...BEHIND_NAT, port: 61_002 };

  const believed = send(lock, moved, { count: 5, fromMs: 10_000 });

  expect(believed).toBe(2);
  expect(lock.target).toEqual(moved);
});

test('SourceLock lets no other host in after silence', () => {
  const lock = lockExpecting();
  send(lock, EXPECTED, { count: 4 });

  const believed = [STRANGER, BEHIND_NAT].map((source) =>
    send(lock, source, { count: 50, fromMs: 10_000 }),
  );

  expect(believed).toEqual([0, 0]);
});

test('SourceLock learns anew when SDP names another address', () => {
  const lock = lockExpecting();
  send(lock, EXPECTED, { count: 4 });
  const moved = { ...EXPECTED, port: 5000 };

  lock.expect(moved, 60_000);

  expect(send(lock, moved, { count: 1, fromMs: 60_000 })).toBe(1);
  expect(send(lock, EXPECTED, { count: 50, fromMs: 60_020 })).toBe(0);
});

test('SourceLock keeps the proven source when SDP repeats its address', () => {
  const lock = lockExpecting();
  send(lock, BEHIND_NAT, { count: 4 });

  lock.expect(EXPECTED, 1000);

  expect(lock.target).toEqual(BEHIND_NAT);
});

test('SourceLock prefers the address of the SDP to another one of its host', () => {
  const lock = lockExpecting();
  send(lock, { address: '10.0.0.1', port: 4002 }, { count: 4 });

  const believed = send(lock, EXPECTED, { count: 1, fromMs: 100 });

  expect(believed).toBe(1);
  expect(lock.target).toMatchObject({ port: 4000 });
});
