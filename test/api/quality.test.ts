/** `/api/calls/{callId}/quality`: what was kept, what is known so far, and nothing where there is nothing. */
import { expect, test } from 'vitest';
import type { CallQuality } from '../../src/domain/call/call-life.ts';
import { addKey, FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const PATH = '/api/calls/call_1/quality';
const WRITE_KEY = `svc_live_${'W'.repeat(32)}`;

const QUALITY: CallQuality = {
  codec: 'PCMU',
  local: {
    ...{
      packetsSent: 1010,
      packetsUnsent: 0,
      packetsReceived: 990,
      packetsLost: 10,
      packetsLate: 5,
    },
    ...{ packetsRejected: 1, lossPercent: 1.5, jitterMs: 2 },
  },
  remote: {
    ...{ packetsSent: 1000, packetsLost: 50, lossPercent: 5, jitterMs: 4.3 },
    ...{ roundTripMs: 80, roundTripMsMax: 120.5 },
  },
  mos: 3.27,
};

async function openWorld(soFar?: CallQuality) {
  const api = await openTestApi({
    liveSound: {
      watchLevels: () => () => undefined,
      listen: () => ({ kind: 'not-in-progress' }),
      quality: async (callId) => (callId === 'call_1' ? soFar : undefined),
      close: () => undefined,
    },
  });
  await api.store.calls.insert(buildCall({ accountId: 'acct_main', status: 'in_progress' }), []);
  return api;
}

test('GET quality answers with what was kept of the call', async () => {
  const api = await openWorld();
  await api.store.qualities.save('call_1', QUALITY);

  expect(await api.json('GET', PATH)).toEqual({ status: 200, body: QUALITY });
});

test('GET quality answers with what is known so far of a call that goes on', async () => {
  const api = await openWorld({ ...QUALITY, remote: null });

  expect(await api.json('GET', PATH)).toMatchObject({
    status: 200,
    body: { codec: 'PCMU', local: { packetsReceived: 990 }, remote: null },
  });
});

test('GET quality answers with nulls where no packets were seen', async () => {
  const api = await openWorld();

  expect(await api.json('GET', PATH)).toEqual({
    status: 200,
    body: { codec: null, local: null, remote: null, mos: null },
  });
});

test.each([
  ['another account', FOREIGN_KEY, 404],
  ['the other environment', TEST_KEY, 404],
  ['a key that may only write', WRITE_KEY, 403],
  ['a client without a key', null, 401],
])('GET quality shows %s nothing', async (_who, key, status) => {
  const api = await openWorld();
  await api.store.qualities.save('call_1', QUALITY);
  const facts = { accountId: 'acct_main', environment: 'live' } as const;
  await addKey(api.store, WRITE_KEY, { ...facts, scopes: ['calls:write'] });

  expect((await api.json('GET', PATH, { key })).status).toBe(status);
});
