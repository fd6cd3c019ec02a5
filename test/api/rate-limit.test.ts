import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIVE_KEY, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const HOUR_ENDS_AT = Date.UTC(2026, 10, 20, 13) / 1000;

function limitsOf(response: Response): readonly (string | null)[] {
  return ['Limit', 'Remaining', 'Reset'].map((name) => response.headers.get(`X-RateLimit-${name}`));
}

/** Uses up requests without asking for each. */
async function useUp(api: TestApi, subject: string, requests: number): Promise<void> {
  const startsAt = new Date('2026-11-20T12:00:00.000Z');
  const endsAt = new Date('2026-11-20T13:00:00.000Z');
  for (let used = 0; used < requests; used++)
    await api.store.rates.count(subject, { startsAt, endsAt });
}

test('Rate limit lets the last request of the hour through and answers 429 to the next', async () => {
  const api = await openTestApi({}, { plan: 'business' });
  await useUp(api, 'account:acct_main:live', 999);
  api.store.clock.advance(1_800_500);

  const last = await api.request('GET', '/api/agents');
  const over = await api.request('GET', '/api/agents');

  expect([last.status, ...limitsOf(last)]).toEqual([200, '1000', '0', String(HOUR_ENDS_AT)]);
  expect([over.status, ...limitsOf(over)]).toEqual([429, '1000', '0', String(HOUR_ENDS_AT)]);
  expect([last.headers.get('Retry-After'), over.headers.get('Retry-After')]).toEqual([
    null,
    '1800',
  ]);
  await expect(over.json()).resolves.toMatchObject({
    error: { code: 'RATE_LIMITED', status: 429 },
  });
});

test('Rate limit resets on the hour', async () => {
  const api = await openTestApi({}, { plan: 'starter' });
  await useUp(api, 'account:acct_main:live', 1000);

  api.store.clock.advance(3_600_000);
  const response = await api.request('GET', '/api/agents');

  expect([response.status, ...limitsOf(response)]).toEqual([
    200,
    '1000',
    '999',
    String(HOUR_ENDS_AT + 3600),
  ]);
});

test('Rate limit counts environments apart, and every key of one together', async () => {
  const api = await openTestApi();

  await api.request('GET', '/api/agents', { key: LIVE_KEY });
  const live = await api.request('GET', '/api/agents', { key: LIVE_KEY });
  const sandbox = await api.request('GET', '/api/agents', { key: TEST_KEY });

  expect(limitsOf(live)[1]).toBe('9998');
  expect(limitsOf(sandbox)[1]).toBe('9999');
});

test('Rate limit counts 401s by client address, IPv6 by its first 64 bits', async () => {
  const api = await openTestApi();
  const remaining = async (remoteAddress: string) =>
    limitsOf(await api.request('GET', '/api/agents', { key: null, remoteAddress }))[1];

  expect(await remaining('203.0.113.7')).toBe('999');
  expect(await remaining('203.0.113.8')).toBe('999');
  expect(await remaining('::ffff:203.0.113.7')).toBe('998');
  expect(await remaining('2001:db8:0:1::1')).toBe('999');
  expect(await remaining('2001:db8:0:1:ffff::2')).toBe('998');
});

test('Rate limit answers 429 instead of 401 when the address has used up its hour', async () => {
  const api = await openTestApi();
  await useUp(api, 'address:203.0.113.7', 1000);

  const response = await api.request('GET', '/api/agents', { key: null });

  expect(response.status).toBe(429);
});

test('Rate limit counts requests that are turned away for their scope, body or path', async () => {
  const api = await openTestApi();

  await api.request('POST', '/api/agents', { body: {} });
  await api.request('GET', '/api/nothing');
  const response = await api.request('GET', '/api/agents');

  expect(limitsOf(response)[1]).toBe('9997');
});

test('Rate limit lets exactly the allowed number of parallel requests through', async () => {
  const api = await openTestApi({}, { plan: 'business' });

  const responses = await Promise.all(
    Array.from({ length: 1200 }, () => api.request('GET', '/api/agents?limit=1')),
  );

  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1000);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(200);
});

test('Rate limit counts signed recording links by recording, and links that are not genuine by address', async () => {
  const api = await openTestApi();
  await api.store.calls.insert(
    buildCall({ accountId: 'acct_main', recordingFile: 'call_1.wav' }),
    [],
  );
  writeFileSync(join(api.store.folder, 'call_1.wav'), 'RIFF');
  const { recordingUrl } = (await api.json('GET', '/api/calls/call_1')).body;
  const path = recordingUrl.replace('https://voice.example', '');
  await useUp(api, 'address:203.0.113.7', 1000);

  const listening = await api.request('GET', path, { key: null });
  const forged = await api.request('GET', path.replace('call_1', 'call_2'), { key: null });
  api.store.clock.advance(86_400_000);
  const expired = await api.request('GET', path, { key: null });
  const again = await api.request('GET', path, { key: null });

  expect([listening.status, ...limitsOf(listening).slice(0, 2)]).toEqual([200, '1000', '999']);
  expect(forged.status).toBe(429);
  expect([expired.status, limitsOf(again)[1]]).toEqual([403, '998']);
});

test('Rate limit leaves health and metrics alone', async () => {
  const api = await openTestApi();

  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const response = await api.request('GET', path, { key: null });
    expect([response.status, limitsOf(response)[0]]).toEqual([200, null]);
  }
});
