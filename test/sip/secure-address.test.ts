/** Requests to a `sips:` address, which may not come over just anything. */
import { afterEach, expect, test } from 'vitest';
import { type Pair, startPair, stopPair } from './user-agents.ts';

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

test.each([
  ['UDP', 'sips', 416],
  ['UDP', 'sip', 200],
  // A proxy may have ended TLS in front of it.
  ['TCP', 'sips', 200],
] as const)('over %s, a request to %s: is answered %d', async (protocol, scheme, status) => {
  pair = await startPair(protocol);

  const response = await pair.alice.request({
    method: 'OPTIONS',
    uri: `${scheme}:bob@example.com`,
    route: [`<${pair.bobUri};lr>`],
  });

  expect(response.status).toBe(status);
});
