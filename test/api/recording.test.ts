import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FOREIGN_KEY, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const BYTES = Buffer.from('RIFF0123456789');

const PATH = '/api/calls/call_1/recording';

async function openWithRecording(recordingFile: string | null = 'call_1.wav'): Promise<TestApi> {
  const api = await openTestApi();
  await api.store.calls.insert(buildCall({ accountId: 'acct_main', recordingFile }), []);
  writeFileSync(join(api.store.folder, 'call_1.wav'), BYTES);
  return api;
}

async function signedPath(api: TestApi): Promise<string> {
  const { body } = await api.json('GET', '/api/calls/call_1');
  return body.recordingUrl.replace('https://voice.example', '');
}

test('GET recording answers with the whole WAV to a key', async () => {
  const api = await openWithRecording();

  const response = await api.request('GET', PATH);

  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'audio/wav',
    'content-length': '14',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': 'inline; filename="call_1.wav"',
    'x-content-type-options': 'nosniff',
  });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(BYTES);
});

test('GET recording answers to a signed link without a key, until it expires', async () => {
  const api = await openWithRecording();
  const path = await signedPath(api);

  const now = await api.request('GET', path, { key: null });
  api.store.clock.advance(86_400_000 - 1);
  const aDayLater = await api.request('GET', path, { key: null });
  api.store.clock.advance(1);
  const tooLate = await api.request('GET', path, { key: null });

  expect([now.status, aDayLater.status, tooLate.status]).toEqual([200, 200, 403]);
  await expect(tooLate.json()).resolves.toMatchObject({
    error: { code: 'FORBIDDEN', status: 403, message: expect.stringContaining('expired') },
  });
});

test.each([
  ['another end', (path: string) => path.replace(/expires=\d+/, 'expires=9999999999')],
  ['another signature', (path: string) => path.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
  ['another call', (path: string) => path.replace('call_1', 'call_2')],
])('GET recording answers 403 to a link with %s', async (_case, change) => {
  const api = await openWithRecording();
  const path = change(await signedPath(api));

  const { status, body } = await api.json('GET', path, { key: null });

  expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
});

test('GET recording answers 400 to half a link', async () => {
  const api = await openWithRecording();

  expect((await api.json('GET', `${PATH}?expires=5`, { key: null })).status).toBe(400);
});

test.each([
  ['no key', null, 401],
  ["another account's key", FOREIGN_KEY, 404],
  ["the other environment's key", TEST_KEY, 404],
] as const)('GET recording without a link answers to %s', async (_case, key, expected) => {
  const api = await openWithRecording();

  expect((await api.json('GET', PATH, { key })).status).toBe(expected);
});

test.each([
  ['bytes=0-3', 206, 'bytes 0-3/14', 'RIFF'],
  ['bytes=4-', 206, 'bytes 4-13/14', '0123456789'],
  ['bytes=-2', 206, 'bytes 12-13/14', '89'],
  ['bytes=-99', 206, 'bytes 0-13/14', 'RIFF0123456789'],
  ['bytes=10-99', 206, 'bytes 10-13/14', '6789'],
  ['bytes=3-1', 200, null, 'RIFF0123456789'],
  ['bytes=0-1,3-4', 200, null, 'RIFF0123456789'],
  ['bytes=a-b', 200, null, 'RIFF0123456789'],
  ['lines=0-1', 200, null, 'RIFF0123456789'],
])('GET recording with Range %s', async (range, status, contentRange, text) => {
  const api = await openWithRecording();

  const response = await api.request('GET', PATH, { headers: { Range: range } });

  expect([response.status, response.headers.get('Content-Range')]).toEqual([status, contentRange]);
  expect(response.headers.get('Content-Length')).toBe(String(text.length));
  expect(await response.text()).toBe(text);
});

test.each([
  'bytes=14-',
  'bytes=99-100',
  'bytes=-0',
])('GET recording answers 416 with the envelope to Range %s', async (range) => {
  const api = await openWithRecording();

  const response = await api.request('GET', PATH, { headers: { Range: range } });

  const header = (name: string) => response.headers.get(name);
  expect(header('Content-Range')).toBe('bytes */14');
  expect(header('Content-Type')).toBe('application/json');
  expect([header('ETag'), header('Content-Disposition')]).toEqual([null, null]);
  expect(header('Cache-Control')).toBe('no-store');
  await expect(response.json()).resolves.toMatchObject({
    error: { code: 'VALIDATION_ERROR', status: 416, details: [{ path: 'Range' }] },
  });
});

test('GET recording answers 304 to who has it, and the whole when it has changed since', async () => {
  const api = await openWithRecording();
  const etag = (await api.request('GET', PATH)).headers.get('ETag') ?? '';
  const headers = { 'If-None-Match': etag };

  const held = await api.request('GET', PATH, { headers });
  utimesSync(join(api.store.folder, 'call_1.wav'), 1, 1);
  const changed = await api.request('GET', PATH, { headers });
  const range = await api.request('GET', PATH, {
    headers: { Range: 'bytes=0-1', 'If-Range': etag },
  });

  expect([held.status, changed.status, range.status]).toEqual([304, 200, 200]);
  expect(await held.text()).toBe('');
});

test('HEAD recording answers with the length and no bytes', async () => {
  const api = await openWithRecording();

  const response = await api.request('HEAD', PATH);

  expect([response.status, response.headers.get('Content-Length')]).toEqual([200, '14']);
  expect(await response.text()).toBe('');
});

test('GET recording answers 404 when the call has none', async () => {
  const api = await openWithRecording(null);

  const { status, body } = await api.json('GET', PATH);

  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
});

test('GET recording answers 404 when the file is gone', async () => {
  const api = await openWithRecording();
  rmSync(join(api.store.folder, 'call_1.wav'));

  expect((await api.json('GET', PATH)).body.error.code).toBe('NOT_FOUND');
});

test.each([
  '../offhook.db',
  '/etc/passwd',
  '.',
  'recordings/../../secret',
])('GET recording never leaves the data folder, whatever the record says: %s', async (recordingFile) => {
  const api = await openWithRecording(recordingFile);

  expect((await api.json('GET', PATH)).status).toBe(404);
});
