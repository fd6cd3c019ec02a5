import { describe, expect, test } from 'vitest';
import { addKey, FOREIGN_KEY, LIVE_KEY, TEST_KEY, type TestApi } from '../support/api/test-api.ts';
import { FROM, openWorld, QUEUE, queuedOf, TO } from './outbound-world.ts';

const PATH = '/api/campaigns';
const READ_KEY = `svc_live_${'R'.repeat(32)}`;
const BODY = { name: 'Recall', agentId: 'agent_live', contacts: [{ to: TO }] };

const create = (api: TestApi, body: object = {}, options: { readonly key?: string } = {}) =>
  api.json('POST', PATH, { body: { ...BODY, ...body }, ...options });

const ask = (api: TestApi, move: string, id: string) => api.json('POST', `${PATH}/${id}/${move}`);

/** Binds the first contact to a call that waits in the queue, as the runner does. */
async function callFirst(api: TestApi, campaignId: string): Promise<void> {
  const started = await api.json('POST', '/api/calls/outbound', {
    body: { agentId: 'agent_live', to: TO },
  });
  const { callId } = started.body as unknown as { readonly callId: string };
  const { items: contacts } = await api.store.campaigns.contacts(campaignId, {
    limit: 1,
    offset: 0,
  });
  const [contact] = contacts;
  if (contact !== undefined) await api.store.campaigns.claim(contact, callId);
}

const contactsOf = async (api: TestApi, id: string) =>
  (await api.json('GET', `${PATH}/${id}/contacts`)).body.data;

describe('POST /api/campaigns', () => {
  test('answers 201 with the campaign, its defaults and its counts', async () => {
    const api = await openWorld();

    const response = await api.request('POST', PATH, { body: BODY });

    const body = (await response.json()) as { readonly id: string };
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`${PATH}/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^camp_[0-9A-Za-z]{24}$/),
      ...{ name: 'Recall', agentId: 'agent_live', status: 'running', statusReason: null },
      ...{ from: null, callsPerMinute: 10, maxConcurrentCalls: 5, notBefore: null, notAfter: null },
      retries: { max: 0, delaySeconds: 900 },
      counts: {
        ...{ total: 1, pending: 1, calling: 0, completed: 0, failed: 0, refused: 0, cancelled: 0 },
        byEndReason: {},
      },
      ...{ createdAt: '2026-11-20T12:00:00.000Z', updatedAt: '2026-11-20T12:00:00.000Z' },
      endedAt: null,
    });
  });

  test('keeps a list of CSV with its columns as metadata', async () => {
    const api = await openWorld();

    const { body } = await create(api, { contacts: undefined, csv: `to,name\n${TO},Anna\n` });

    expect(await contactsOf(api, body.id)).toEqual([
      {
        ...{ row: 1, to: TO, metadata: { name: 'Anna' }, state: 'pending', attempts: 0 },
        ...{ callId: null, endReason: null, reason: null },
        nextCallAt: '2026-11-20T12:00:00.000Z',
      },
    ]);
  });

  test('names all wrong rows, and keeps nothing', async () => {
    const api = await openWorld();

    const { status, body } = await create(api, { contacts: [{ to: 'x' }, { to: TO }, { to: TO }] });

    expect(status).toBe(400);
    expect(body.error.details.map(({ path }) => path)).toEqual(['contacts.0.to', 'contacts.2.to']);
    expect((await api.json('GET', PATH)).body.total).toBe(0);
  });

  test.each([
    ['an agent that never was', { agentId: 'agent_none' }, 404],
    ['an agent of another account', { agentId: 'agent_foreign' }, 404],
    ['an agent of the other environment', { agentId: 'agent_test' }, 404],
    ['a paused agent', { agentId: 'agent_paused' }, 409],
    ['an agent without a number', { agentId: 'agent_mute' }, 422],
    ['a number that no trunk has', { from: '+390399999999' }, 422],
    ['a number of another account', { from: '+390622222222' }, 422],
    ['an unknown field', { pace: 10 }, 400],
    ['no pace', { callsPerMinute: 0 }, 400],
    ['too fast a pace', { callsPerMinute: 601 }, 400],
    ['too many calls at once', { maxConcurrentCalls: 101 }, 400],
    ['too many retries', { retries: { max: 6 } }, 400],
    ['retries at once', { retries: { max: 1, delaySeconds: 1 } }, 400],
    ['a window that is over', { notAfter: '2026-11-20T11:00:00Z' }, 400],
    ['a window too far ahead', { notBefore: '2027-01-20T11:00:00Z' }, 400],
    ['a blank name', { name: ' ' }, 400],
    ['no contacts', { contacts: [] }, 400],
    ['an unknown voice', { contacts: [{ to: TO, overrides: { voice: 'no-such-voice' } }] }, 400],
    ['a contact with an unknown field', { contacts: [{ to: TO, phone: TO }] }, 400],
  ])('refuses %s', async (_what, fields, status) => {
    const api = await openWorld();

    const answer = await create(api, fields);

    expect(answer.status).toBe(status);
    expect((await api.json('GET', PATH)).body.total).toBe(0);
  });

  test('is a plan’s feature, as outbound calls are', async () => {
    const api = await openWorld({ plansWithoutOutbound: ['starter'] }, { plan: 'starter' });

    expect((await create(api)).status).toBe(403);
  });

  test('makes one campaign of one idempotency key', async () => {
    const api = await openWorld();
    const options = { body: BODY, headers: { 'X-Idempotency-Key': 'once' } };

    const first = await api.json('POST', PATH, options);
    const second = await api.json('POST', PATH, options);

    expect(second.body).toEqual(first.body);
    expect((await api.json('GET', PATH)).body.total).toBe(1);
  });

  test('requires calls:write', async () => {
    const api = await openWorld();
    await addKey(api.store, READ_KEY, {
      ...{ accountId: 'acct_main', environment: 'live', scopes: ['calls:read'] },
    });

    expect((await create(api, {}, { key: READ_KEY })).status).toBe(403);
  });
});

describe('campaigns', () => {
  test('are seen by their account and environment alone', async () => {
    const api = await openWorld();
    const { id } = (await create(api)).body;

    const statuses: number[] = [];
    for (const key of [LIVE_KEY, TEST_KEY, FOREIGN_KEY]) {
      statuses.push((await api.request('GET', `${PATH}/${id}`, { key })).status);
      statuses.push((await api.request('GET', `${PATH}/${id}/contacts`, { key })).status);
      statuses.push((await api.request('POST', `${PATH}/${id}/pause`, { key })).status);
    }

    expect(statuses).toEqual([200, 200, 200, 404, 404, 404, 404, 404, 404]);
  });

  test('pause, resume and are cancelled; each where its state allows it', async () => {
    const api = await openWorld();
    const { id } = (await create(api)).body;

    const moves = ['resume', 'pause', 'pause', 'resume', 'cancel', 'cancel', 'resume'];
    const answers: (readonly [number, string | undefined])[] = [];
    for (const move of moves) {
      const { status, body } = await ask(api, move, id);
      answers.push([status, body.status]);
    }

    expect(answers).toEqual([
      ...[
        [409, undefined],
        [200, 'paused'],
        [409, undefined],
        [200, 'running'],
      ],
      ...[
        [200, 'cancelled'],
        [409, undefined],
        [409, undefined],
      ],
    ]);
    expect(await contactsOf(api, id)).toMatchObject([{ state: 'cancelled', nextCallAt: null }]);
  });

  test('take back the calls that wait to be dialled when they pause', async () => {
    const api = await openWorld();
    const { id } = (await create(api)).body;
    await callFirst(api, id);

    await ask(api, 'pause', id);

    expect(await queuedOf(api)).toEqual([]);
    expect(await contactsOf(api, id)).toMatchObject([
      { state: 'pending', attempts: 0, callId: null },
    ]);
  });

  test('cannot resume while their agent is paused', async () => {
    const api = await openWorld();
    const { id } = (await create(api)).body;
    await ask(api, 'pause', id);
    await api.request('PATCH', '/api/agents/agent_live', { body: { status: 'paused' } });

    const { status, body } = await ask(api, 'resume', id);

    expect(status).toBe(409);
    expect(body.error.message).toContain('is paused; activate it first');
  });

  test('are deleted with their contacts unless they run', async () => {
    const api = await openWorld();
    const { id } = (await create(api)).body;

    const running = await api.request('DELETE', `${PATH}/${id}`);
    await ask(api, 'cancel', id);
    const cancelled = await api.request('DELETE', `${PATH}/${id}`);

    expect([running.status, cancelled.status]).toEqual([409, 204]);
    expect((await api.json('GET', `${PATH}/${id}`)).status).toBe(404);
    expect((await api.store.campaigns.counts(id)).total).toBe(0);
  });

  test('are listed newest first, and by status', async () => {
    const api = await openWorld();
    const first = (await create(api)).body.id;
    api.store.clock.advance(10);
    const second = (await create(api)).body.id;
    await ask(api, 'pause', first);

    const all = (await api.json('GET', PATH)).body.data.map(({ id }) => id);
    const paused = (await api.json('GET', `${PATH}?status=paused`)).body.data;

    expect(all).toEqual([second, first]);
    expect(paused.map(({ id }) => id)).toEqual([first]);
  });

  test('keep 10,000 contacts', async () => {
    const api = await openWorld({ dialQueues: { live: QUEUE, test: QUEUE } });
    const rows = Array.from(
      { length: 10_000 },
      (_, index) => `+3906${10_000_000 + index},c${index}`,
    );

    const csv = `to,customer\n${rows.join('\n')}`;
    const { status, body } = await create(api, { contacts: undefined, csv, from: FROM });

    expect(status).toBe(201);
    expect(body).toMatchObject({ counts: { total: 10_000, pending: 10_000 } });
  });
});
