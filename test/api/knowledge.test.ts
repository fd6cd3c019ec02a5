import { describe, expect, test } from 'vitest';
import { KNOWLEDGE_LIMITS } from '../../src/domain/knowledge/knowledge.ts';
import { addKey, FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const HOURS = { name: 'Opening hours', text: '# Hours\n\nWe open at nine.' };

const PATH = '/api/agents/agent_1/knowledge';

async function openWorld() {
  const api = await openTestApi();
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
  const add = (fields: object = {}) => api.json('POST', PATH, { body: { ...HOURS, ...fields } });
  return { api, add };
}

describe('POST /api/agents/{agentId}/knowledge', () => {
  test('makes a document, which the list and its own path show', async () => {
    const { api, add } = await openWorld();

    const made = await add();
    const path = `${PATH}/${made.body.id}`;

    const facts = { name: HOURS.name, version: 1, mediaType: 'text/markdown', passages: 1 };
    expect(made).toMatchObject({ status: 201, body: facts });
    expect((await api.json('GET', PATH)).body).toMatchObject({ data: [made.body], total: 1 });
    const { text, versions, ...document } = (await api.json('GET', path)).body as unknown as {
      text: string;
      versions: object[];
    };
    expect(document).toEqual(made.body);
    expect({ text, versions }).toMatchObject({ text: HOURS.text, versions: [{ version: 1 }] });
  });

  test('makes the next version of a name, and nothing of the same text', async () => {
    const { api, add } = await openWorld();
    const first = await add();
    api.store.clock.advance(1000);

    const second = await add({ text: 'We open at ten.' });
    api.store.clock.advance(1000);
    const again = await add({ text: 'We open at ten.' });

    expect(second.body).toMatchObject({ id: first.body.id, version: 2 });
    expect(again.body).toEqual(second.body);
    expect((await api.json('GET', PATH)).body).toMatchObject({ data: [second.body], total: 1 });
    const old = await api.json('GET', `${PATH}/${first.body.id}?version=1`);
    expect(old.body).toMatchObject({ text: HOURS.text, version: 2 });
  });

  test('the same request with one idempotency key adds one document', async () => {
    const { api } = await openWorld();
    const options = { body: HOURS, headers: { 'X-Idempotency-Key': 'once' } };

    const first = await api.json('POST', PATH, options);
    const second = await api.json('POST', PATH, options);

    expect(second.body).toEqual(first.body);
  });

  test.each([
    ['a name of blanks', { name: ' ' }, 400, 'name'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 400, 'name'],
    ['a text of blanks', { text: ' \n ' }, 400, 'text'],
    ['a text that is too long', { text: 'x'.repeat(300_001) }, 400, 'text'],
    ['a field that there is not', { url: 'https://a.example/' }, 400, 'url'],
    ['a text of too many passages', { text: '# a\nb\n'.repeat(1001) }, 422, '1001 passages'],
  ])('refuses %s, and says what is wrong', async (_case, fields, status, words) => {
    const { api, add } = await openWorld();

    const { status: got, body } = await add(fields);

    expect(got).toBe(status);
    expect(body.error.message).toContain(words);
    expect((await api.json('GET', PATH)).body.total).toBe(0);
  });

  test('refuses one document more than an agent may have', async () => {
    const { api, add } = await openWorld();
    const { agentDocumentsMax } = KNOWLEDGE_LIMITS;
    for (let count = 0; count < agentDocumentsMax; count += 1) await add({ name: `Name ${count}` });

    const { status, body } = await add({ name: 'One more' });

    expect(status).toBe(409);
    expect(body.error.message).toBe(
      'Cannot add the document: the agent would have 101 documents, and 100 is the most; delete another document first',
    );
    expect((await api.json('GET', `${PATH}?limit=2`)).body).toMatchObject({ total: 100 });
  });
});

describe('access to documents', () => {
  test.each([
    ['another account', FOREIGN_KEY],
    ['the other environment', TEST_KEY],
  ])('the key of %s finds neither agent nor document', async (_case, key) => {
    const { api, add } = await openWorld();
    const { id } = (await add()).body;

    const answers = await Promise.all([
      api.json('GET', PATH, { key }),
      api.json('POST', PATH, { key, body: HOURS }),
      api.json('GET', `${PATH}/${id}`, { key }),
      api.json('DELETE', `${PATH}/${id}`, { key }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await api.json('GET', PATH)).body.total).toBe(1);
  });

  test('a key that may only read changes nothing', async () => {
    const { api, add } = await openWorld();
    const { id } = (await add()).body;
    const key = `svc_live_${'9'.repeat(32)}`;
    const scopes = ['agents:read'] as const;
    await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes });

    expect((await api.json('GET', `${PATH}/${id}`, { key })).status).toBe(200);
    expect((await api.json('POST', PATH, { key, body: HOURS })).status).toBe(403);
    expect((await api.json('DELETE', `${PATH}/${id}`, { key })).status).toBe(403);
  });
});

describe('DELETE /api/agents/{agentId}/knowledge/{documentId}', () => {
  test('deletes the document with its versions', async () => {
    const { api, add } = await openWorld();
    const { id } = (await add()).body;
    await add({ text: 'We open at ten.' });

    const gone = await api.request('DELETE', `${PATH}/${id}`);

    expect(gone.status).toBe(204);
    expect((await api.json('GET', `${PATH}/${id}`)).status).toBe(404);
    expect((await api.json('GET', `${PATH}/${id}?version=1`)).status).toBe(404);
    expect((await api.request('DELETE', `${PATH}/${id}`)).status).toBe(404);
    expect((await add()).body).toMatchObject({ version: 1 });
  });

  test('the agent takes its documents along', async () => {
    const { api, add } = await openWorld();
    const { id } = (await add()).body;

    expect((await api.request('DELETE', '/api/agents/agent_1')).status).toBe(204);

    expect((await api.json('GET', `${PATH}/${id}`)).status).toBe(404);
    expect((await api.json('GET', PATH)).body.error.code).toBe('AGENT_NOT_FOUND');
  });
});
