/** What an agent wants to be read out of its calls, over REST. */
import { expect, test } from 'vitest';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const EXTRACT = {
  type: 'object',
  properties: { orderNumber: { type: 'string', maxLength: 20 } },
  required: ['orderNumber'],
};

async function openWithAgent(): Promise<TestApi> {
  const api = await openTestApi();
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
  return api;
}

const AGENT = { name: 'n', greeting: 'Hello.', systemPrompt: 's' };

test('an agent is made and changed with what it extracts, and null takes it away', async () => {
  const api = await openWithAgent();
  const successCriteria = 'The caller knows when to come.';
  const wanted = { extract: EXTRACT, successCriteria };

  const made = await api.json('POST', '/api/agents', { body: { ...AGENT, ...wanted } });
  const path = `/api/agents/${made.body.id}`;
  const shown = await api.json('GET', path);
  await api.json('PATCH', path, { body: { extract: null, successCriteria: null } });
  const changed = await api.json('GET', path);
  const versions = await api.json('GET', `${path}/versions`);

  expect(shown.body).toMatchObject(wanted);
  expect(changed.body).toMatchObject({ extract: null, successCriteria: null });
  expect(versions.body.data).toMatchObject([
    { version: 2, changed: ['extract', 'successCriteria'] },
    { version: 1, agent: wanted },
  ]);
});

test.each([
  ['another type', { extract: { type: 'array' } }, 'extract.type', /expected "object"/],
  [
    'an unknown keyword',
    { extract: { type: 'object', $ref: '#' } },
    'extract.$ref',
    /expected one of/,
  ],
  [
    'a type that is none',
    { extract: { type: 'object', properties: { a: { type: 'date' } } } },
    'extract.properties.a.type',
    /expected/,
  ],
  [
    'a schema that is too long',
    { extract: { type: 'object', description: 'x'.repeat(9000) } },
    'extract',
    /expected at most 8000 characters/,
  ],
  ['a text', { extract: 'everything' }, 'extract', /must be an object/],
  ['blank criteria', { successCriteria: '  ' }, 'successCriteria', /expected/],
  ['long criteria', { successCriteria: 'x'.repeat(1001) }, 'successCriteria', /at most 1000 char/],
])('%s: 400 that names the field', async (_what, wanted, path, message) => {
  const api = await openWithAgent();

  const made = await api.json('POST', '/api/agents', { body: { ...AGENT, ...wanted } });
  const patched = await api.json('PATCH', '/api/agents/agent_1', { body: wanted });

  for (const { status, body } of [made, patched]) {
    expect(status).toBe(400);
    expect(body.error.details).toEqual([{ path, message: expect.stringMatching(message) }]);
  }
});
