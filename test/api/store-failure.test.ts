import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { ServiceError, StoreError } from '../../src/domain/service-error.ts';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { openTestApi } from '../support/api/test-api.ts';

const AGENT = { name: 'Desk', greeting: 'Hello.', systemPrompt: 'Be brief.' };

const UNAVAILABLE = {
  status: 503,
  body: { error: { code: 'SERVICE_UNAVAILABLE', status: 503 } },
};

test('Answers 503 with the envelope to a write while another process holds the database, and 201 afterwards', async () => {
  const api = await openTestApi();
  await api.json('GET', '/api/agents');
  const other = new Sqlite(api.store.file);
  other.exec('begin immediate');

  const during = await api.request('POST', '/api/agents', { body: AGENT });
  other.close();
  const after = await api.json('POST', '/api/agents', { body: AGENT });

  expect(during.headers.get('Retry-After')).toBe('5');
  expect({ status: during.status, body: await during.json() }).toMatchObject(UNAVAILABLE);
  expect(after.status).toBe(201);
});

test('Answers reads while another process holds the database, until the requests counted ahead are used up', async () => {
  const api = await openTestApi();
  await api.json('GET', '/api/agents');
  const other = new Sqlite(api.store.file);
  other.exec('begin immediate');

  const statuses: number[] = [];
  for (let asked = 1; asked < 20; asked++) {
    statuses.push((await api.json('GET', '/api/agents')).status);
  }
  const usedUp = await api.json('GET', '/api/agents');
  other.close();
  const after = await api.request('GET', '/api/agents');

  expect(statuses).toEqual(Array(19).fill(200));
  expect(usedUp).toMatchObject(UNAVAILABLE);
  expect(after.status).toBe(200);
  expect(after.headers.get('X-RateLimit-Remaining')).toBe('9979');
});

test('Answers 503 with all rate headers when requests cannot be counted', async () => {
  const rates = {
    count: () => {
      throw new StoreError('Cannot use the database "x": the disk is full', 'full');
    },
  };
  const api = await openTestApi({ rates });

  const response = await api.request('GET', '/api/agents');

  expect(response.status).toBe(503);
  expect(response.headers.get('X-RateLimit-Remaining')).toBe('0');
  expect(await response.text()).not.toContain('disk');
});

test('Answers 500 without a word of what went wrong, and logs it with the request id', async () => {
  const logged: object[] = [];
  const log: Logger = { ...silentLogger, error: (fields) => logged.push(fields) };
  const agents = {
    list: () => {
      throw new TypeError('secret of the house');
    },
  };
  const api = await openTestApi({ log, agents: agents as never });

  const { status, body } = await api.json('GET', '/api/agents');

  expect([status, body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(JSON.stringify(body)).not.toContain('secret of the house');
  expect(logged).toEqual([{ err: expect.any(TypeError), requestId: body.error.requestId }]);
});

test.each([
  ['SERVICE_UNAVAILABLE', 503, ['warn']],
  ['INTERNAL_ERROR', 500, ['error']],
  ['CONFLICT', 409, []],
] as const)('A request that ends with %s answers %d and is logged by how bad that is', async (code, expected, levels) => {
  const logged: string[] = [];
  const log: Logger = {
    ...silentLogger,
    warn: () => logged.push('warn'),
    error: () => logged.push('error'),
  };
  const agents = {
    list: () => {
      throw new ServiceError(code, 'Cannot list');
    },
  };
  const api = await openTestApi({ log, agents: agents as never });

  const response = await api.request('GET', '/api/agents');

  expect(response.status).toBe(expected);
  expect(logged).toEqual(levels);
  expect(response.headers.get('Retry-After')).toBe(expected === 503 ? '5' : null);
  expect(response.headers.get('WWW-Authenticate')).toBe(null);
});
