import { expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../src/lib/logger.ts';
import { openTestApi } from '../support/api/test-api.ts';

function recordingLog(): { readonly log: Logger; readonly lines: object[] } {
  const lines: object[] = [];
  return { log: { ...silentLogger, info: (fields) => lines.push(fields) }, lines };
}

test('Every request of the interface has one log line, with the id of the answer and no id of a resource', async () => {
  const { log, lines } = recordingLog();
  const api = await openTestApi({ log });

  const response = await api.request('GET', '/api/calls/call_secret?limit=5');

  expect(lines).toEqual([
    {
      requestId: response.headers.get('X-Request-Id'),
      method: 'GET',
      route: '/api/calls/{callId}',
      status: 400,
      durationMs: 0,
    },
  ]);
});

test('Probes leave the log alone', async () => {
  const { log, lines } = recordingLog();
  const api = await openTestApi({ log });

  for (const path of ['/healthz', '/readyz', '/metrics']) await api.request('GET', path);

  expect(lines).toEqual([]);
});

test('A request id that the client sends is not taken over', async () => {
  const api = await openTestApi();

  const headers = { 'X-Request-Id': 'req_forged' };
  const response = await api.request('GET', '/healthz', { headers });

  expect(response.headers.get('X-Request-Id')).toMatch(/^req_[0-9A-Za-z]{24}$/);
});

test('Strict transport security is asked for only where the public address is HTTPS', async () => {
  const https = await openTestApi();
  const http = await openTestApi({ publicUrl: 'http://localhost:3000' });

  const header = 'Strict-Transport-Security';
  expect((await https.request('GET', '/healthz')).headers.get(header)).toBe('max-age=31536000');
  expect((await http.request('GET', '/healthz')).headers.has(header)).toBe(false);
});
