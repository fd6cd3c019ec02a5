import fc from 'fast-check';
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

test('SourceLock accepts no source before there is SDP', () => {
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

test('SourceLock unlocks when SDP names another address', () => {
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

const OTHER_PORT = { address: '10.0.0.1', port: 4002 };

test.each([
  ['the address of the SDP', EXPECTED, 60_000, true],
  ['another port of its host, which may prove itself', OTHER_PORT, 60_000, true],
  ['the host of signalling within 5 s', BEHIND_NAT, 5000, true],
  ['the host of signalling after 5 s', BEHIND_NAT, 5001, false],
  ['a stranger', STRANGER, 0, false],
  ['port 0', { address: '10.0.0.1', port: 0 }, 0, false],
])('SourceLock that has heard nothing may hear %s: %o at %d ms is %s', (_name, source, nowMs, may) => {
  expect(lockExpecting().mayHear(source, nowMs)).toBe(may);
});

test.each([
  ['that source', EXPECTED, 80, true],
  ['another port of its host while it is heard', OTHER_PORT, 80, false],
  ['the host of signalling', BEHIND_NAT, 80, false],
  ['another port of its host after 2 s of silence', OTHER_PORT, 2060, true],
])('SourceLock that has heard its source may hear %s: %o at %d ms is %s', (_name, source, nowMs, may) => {
  const lock = lockExpecting();
  send(lock, EXPECTED, { count: 4 });

  expect(lock.mayHear({ ...source }, nowMs)).toBe(may);
});

test('SourceLock accepts nothing that it says it may not hear, whatever comes', () => {
  const sources = [EXPECTED, OTHER_PORT, BEHIND_NAT, STRANGER].map(({ address, port }) => ({
    address,
    port,
  }));
  const packets = fc.array(
    fc.record({
      source: fc.constantFrom(...sources),
      runs: fc.integer({ min: 1, max: 6 }),
      pauseMs: fc.constantFrom(0, 20, 2000, 5001),
    }),
    { maxLength: 20 },
  );

  const property = fc.property(packets, (given) => {
    const lock = lockExpecting();
    let [nowMs, sequence] = [0, 0];
    for (const { source, runs, pauseMs } of given) {
      nowMs += pauseMs;
      for (let run = 0; run < runs; run += 1) {
        sequence += 1;
        const may = lock.mayHear(source, nowMs);
        const isAccepted = lock.accept(source, { ssrc: SSRC, sequence }, nowMs);
        expect(isAccepted && !may).toBe(false);
      }
    }
  });

  fc.assert(property, { numRuns: 300 });
});
