/** `/api/calls/{callId}/recording/peaks`: the same recordings as the recording itself, for the same keys. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { peakReader } from '../../src/call/live-calls.ts';
import type { ReadPeaks } from '../../src/domain/call/recording-link.ts';
import { wavHeader } from '../../src/media/recording/wav-file.ts';
import { addKey, FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const PATH = '/api/calls/call_1/recording/peaks';
const FRAMES = 8000;
const WRITE_KEY = `svc_live_${'W'.repeat(32)}`;

/** A second of a recording: the caller at half of full scale, the agent silent. */
async function openWorld(
  options: { readonly recordingFile?: string | null; readonly readPeaks?: ReadPeaks } = {},
) {
  const { recordingFile = 'call_1.wav', readPeaks = peakReader() } = options;
  const api = await openTestApi({ readPeaks });
  await api.store.calls.insert(buildCall({ accountId: 'acct_main', recordingFile }), []);
  const pcm = new Int16Array(FRAMES * 2).map((_, index) => (index % 2 === 0 ? 16_384 : 0));
  const file = join(api.store.folder, 'call_1.wav');
  const header = wavHeader({ channels: 2, rateHz: 8000 }, pcm.byteLength);
  writeFileSync(file, Buffer.concat([header, Buffer.from(pcm.buffer)]));
  return { api, file };
}

test('GET recording/peaks answers with both sides of the recording', async () => {
  const { api } = await openWorld();

  const response = await api.request('GET', `${PATH}?points=3`);

  expect(response.status).toBe(200);
  expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
  expect(await response.json()).toEqual({
    durationMs: 1000,
    peaks: { caller: [0.5, 0.5, 0.5], agent: [0, 0, 0] },
  });
});

test('GET recording/peaks has a thousand points unless told otherwise', async () => {
  const { api } = await openWorld();

  const response = await api.request('GET', PATH);

  const body = (await response.json()) as { peaks: { caller: number[]; agent: number[] } };
  expect([body.peaks.caller.length, body.peaks.agent.length]).toEqual([1000, 1000]);
});

test.each([
  '0',
  '5001',
  '1.5',
  '-1',
  'many',
  '',
])('GET recording/peaks answers 400 to "%s" points', async (points) => {
  const { api } = await openWorld();

  const answer = await api.json('GET', `${PATH}?points=${points}`);

  expect(answer).toMatchObject({ status: 400, body: { error: { details: [{ path: 'points' }] } } });
});

test('GET recording/peaks answers 304 to a current ETag, until the file or the query changes', async () => {
  const { api, file } = await openWorld();
  const etag = (await api.request('GET', PATH)).headers.get('ETag') ?? '';
  const headers = { 'If-None-Match': etag };

  const again = await api.request('GET', PATH, { headers });
  const asked = await api.request('GET', `${PATH}?points=5`, { headers });
  writeFileSync(file, wavHeader({ channels: 2, rateHz: 8000 }, 0));
  const changed = await api.request('GET', PATH, { headers });

  expect([again.status, asked.status, changed.status]).toEqual([304, 200, 200]);
  expect(await changed.json()).toEqual({ durationMs: 0, peaks: { caller: [], agent: [] } });
});

test.each([
  ['has no recording', null],
  ['has a recording outside of the data folder', '../../../etc/passwd'],
  ['has a recording that was removed', 'removed.wav'],
])('GET recording/peaks answers 404 where the call %s', async (_case, recordingFile) => {
  const { api } = await openWorld({ recordingFile });

  const answer = await api.json('GET', PATH);
  const ofRecording = await api.json('GET', '/api/calls/call_1/recording');

  expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  expect(answer.body.error.message).toBe(ofRecording.body.error.message);
});

test('GET recording/peaks answers 404 where the file is no recording', async () => {
  const { api, file } = await openWorld();
  rmSync(file);
  writeFileSync(file, 'hello');

  expect((await api.json('GET', PATH)).status).toBe(404);
});

test('GET recording/peaks answers 503 while as many are read as may be', async () => {
  const { api } = await openWorld({ readPeaks: async () => 'busy' });

  const response = await api.request('GET', PATH);

  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '1']);
});

test.each([
  ['another account', FOREIGN_KEY, 404],
  ['the other environment', TEST_KEY, 404],
  ['a key that may only write', WRITE_KEY, 403],
  ['a client without a key', null, 401],
])('GET recording/peaks shows %s nothing', async (_who, key, status) => {
  const { api } = await openWorld();
  const facts = { accountId: 'acct_main', environment: 'live' } as const;
  await addKey(api.store, WRITE_KEY, { ...facts, scopes: ['calls:write'] });

  expect((await api.json('GET', PATH, { key })).status).toBe(status);
});
