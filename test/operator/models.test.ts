/** `/api/models`: who may ask, what is refused, and what a download leaves in the audit log. */
import { expect, test } from 'vitest';
import type { WantedModels } from '../../src/domain/model-downloads.ts';
import { ServiceError } from '../../src/domain/service-error.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ADMIN_KEY } from '../support/api/api-world.ts';
import { idleDownloads } from '../support/api/idle-downloads.ts';
import { addKey, LIVE_KEY, openTestApi } from '../support/api/test-api.ts';

const DOWNLOADS = '/api/models/downloads';

/** @param refuse what a start throws. */
async function openWorld(refuse?: ServiceError) {
  const wanted: WantedModels[] = [];
  const cancelled: string[] = [];
  const idle = idleDownloads(systemClock);
  const api = await openTestApi({
    modelDownloads: {
      ...idle,
      start: async (models) => {
        if (refuse !== undefined) throw refuse;
        wanted.push(models);
        return idle.start(models);
      },
      cancel: async () => void cancelled.push('cancelled'),
    },
  });
  const scopes = ['admin'] as const;
  await addKey(api.store, ADMIN_KEY, { accountId: 'acct_main', environment: 'live', scopes });
  const start = (body: object) => api.json('POST', DOWNLOADS, { key: ADMIN_KEY, body });
  return { api, wanted, cancelled, start };
}

test('POST /api/models/downloads starts a profile or one model, and is in the audit log', async () => {
  const { api, wanted, start } = await openWorld();

  const answers = [await start({ profile: 'best' }), await start({ modelId: 'silero-vad-v5' })];

  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  expect(answers[0]?.body).toMatchObject({ id: 'dl_1', totalBytes: 1, problem: null });
  expect(wanted).toEqual([{ profile: 'best' }, { modelId: 'silero-vad-v5' }]);
  const { items: entries } = await api.store.auditLog.page({ limit: 1, offset: 0 });
  expect(entries).toMatchObject([{ action: `POST ${DOWNLOADS}`, resource: 'dl_1', status: 202 }]);
});

test.each([
  [{}],
  [{ profile: 'small', modelId: 'silero-vad-v5' }],
  [{ profile: 'huge' }],
  [{ modelId: '' }],
  [{ modelId: 'a', manifest: '/etc/passwd' }],
])('POST /api/models/downloads refuses %j', async (body) => {
  const { wanted, start } = await openWorld();

  const { status, body: answer } = await start(body);

  expect([status, answer.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(wanted).toEqual([]);
});

test('POST /api/models/downloads says why none begins', async () => {
  const why = 'Cannot start the download: another one is under way';
  const { start } = await openWorld(new ServiceError('CONFLICT', why));

  const { status, body } = await start({ profile: 'small' });

  expect([status, body.error.message]).toEqual([409, why]);
});

test('a download is shown and cancelled by its id, and no other is known', async () => {
  const { api, cancelled } = await openWorld();
  const ask = (method: string, id: string) =>
    api.request(method, `${DOWNLOADS}/${id}`, { key: ADMIN_KEY });

  const statuses = [
    (await ask('GET', 'dl_1')).status,
    (await ask('GET', 'dl_2')).status,
    (await ask('DELETE', 'dl_2')).status,
    (await ask('DELETE', 'dl_1')).status,
  ];

  expect(statuses).toEqual([200, 404, 404, 204]);
  expect(cancelled).toHaveLength(1);
});

test('models are for the operator alone', async () => {
  const { api } = await openWorld();

  const { status, body } = await api.json('GET', '/api/models', { key: LIVE_KEY });

  expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
});
