import { expect, test } from 'vitest';
import { engineState, type ReadinessReport } from '../../src/domain/call/engine-state.ts';
import { openTestApi } from '../support/api/test-api.ts';

const REPORT: ReadinessReport = {
  status: 'ready',
  engines: [
    engineState({ job: 'stt', engine: 'whisper', reason: 'it is installed', isFallback: false }),
  ],
  carriers: [{ name: 'sip', isReady: true, state: 'listening on udp 127.0.0.1:5060' }],
  checks: [{ name: 'database', isOk: true, state: 'writable' }],
};

test.each([
  ['ready', 200],
  ['draining', 503],
  ['not_ready', 503],
] as const)('GET /readyz of a server that is %s answers %d with the whole report', async (status, expected) => {
  const report = { ...REPORT, status };
  const api = await openTestApi({ readiness: async () => report });

  const response = await api.request('GET', '/readyz', { key: null });

  expect(response.status).toBe(expected);
  await expect(response.json()).resolves.toEqual(report);
});

test('GET /healthz answers 200 even while the server is not ready', async () => {
  const api = await openTestApi({ readiness: async () => ({ ...REPORT, status: 'not_ready' }) });

  const response = await api.request('GET', '/healthz', { key: null });

  expect(response.status).toBe(200);
  await expect(response.json()).resolves.toEqual({ status: 'ok' });
});

test('GET /metrics counts requests by pattern, never by the path with its ids', async () => {
  const api = await openTestApi();
  await api.request('GET', '/api/calls/call_secret/events');
  await api.request('GET', '/wp-admin/call_secret');
  await api.request('BREW', '/api/agents');

  const response = await api.request('GET', '/metrics', { key: null });

  const text = await response.text();
  expect(response.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(text).toContain(
    'offhook_http_requests_total{route="/api/calls/{callId}/events",method="GET",status="404"} 1',
  );
  expect(text).toContain('route="unmatched",method="GET",status="404"');
  expect(text).toContain('route="unmatched",method="other",status="404"');
  expect(text).not.toContain('call_secret');
});
