/** Connection slots of trunks and of strangers. */
import { expect, test } from 'vitest';
import { ConnectionQuota } from '../../src/sip/transport/transport-tcp.ts';

const LIMITS = {
  ...{ connectionsMax: 10, connectionsPerPeerMax: 5 },
  ...{ strangersMax: 4, strangersPerPeerMax: 2 },
};

/** How many of so many connections get a place. */
function taken(quota: ConnectionQuota, address: string, isStranger: boolean): number {
  const releases = Array.from({ length: 20 }, () => quota.take(address, isStranger));
  return releases.filter((release) => release !== undefined).length;
}

test('ConnectionQuota gives strangers few places, and those of trunks theirs', () => {
  const quota = new ConnectionQuota(LIMITS);

  const strangers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) =>
    taken(quota, address, true),
  );
  const known = ['198.51.100.1', '198.51.100.2'].map((address) => taken(quota, address, false));

  expect(strangers).toEqual([2, 2, 0]);
  expect(known).toEqual([5, 1]);
});

test('ConnectionQuota gives a released place to the next one, once', () => {
  const quota = new ConnectionQuota({ ...LIMITS, strangersMax: 1 });
  const release = quota.take('192.0.2.1', true);
  const whileHeld = quota.take('192.0.2.2', true);

  release?.();
  release?.();
  const after = [quota.take('192.0.2.2', true), quota.take('192.0.2.3', true)];

  expect(whileHeld).toBeUndefined();
  expect(after).toEqual([expect.any(Function), undefined]);
});
