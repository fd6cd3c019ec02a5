/** The language model of an agent over REST: what is taken, what is refused, and what can be chosen. */
import { describe, expect, test } from 'vitest';
import type { LanguageModels } from '../../src/domain/agent/agent-rules.ts';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const AGENTS = '/api/agents';

/** A model server that has these models; undefined while it does not answer. */
class StubModels implements LanguageModels {
  readonly ownName = 'ollama/qwen3:4b';
  readonly isChoosable: boolean = true;
  there: readonly string[] | undefined;
  /** What was listed some seconds ago. */
  listed: readonly string[] | undefined;
  asked = 0;

  constructor(there: readonly string[] | undefined) {
    this.there = there;
    this.listed = there;
  }

  async names({ isFresh = false } = {}) {
    this.asked += 1;
    return isFresh ? this.there : this.listed;
  }
}

async function open(there: readonly string[] | undefined = ['llama3.2:3b', 'qwen3:4b']) {
  const languageModels = new StubModels(there);
  const api = await openTestApi({ languageModels });
  const create = (model?: unknown) =>
    api.json('POST', AGENTS, { body: { ...DRAFT, ...(model !== undefined && { model }) } });
  return { api, create, languageModels };
}

const modelOf = async (api: TestApi, id: string) =>
  (await api.json('GET', `${AGENTS}/${id}`)).body.model;

describe('the model of an agent', () => {
  test('is the server’s own unless given', async () => {
    const { api, create, languageModels } = await open();

    const { body } = await create();

    expect(await modelOf(api, body.id)).toBeNull();
    expect(languageModels.asked).toBe(0);
  });

  test('is kept, changed and taken away', async () => {
    const { api, create } = await open();
    const { status, body } = await create('llama3.2:3b');
    const kept = await modelOf(api, body.id);

    await api.json('PATCH', `${AGENTS}/${body.id}`, { body: { model: 'qwen3:4b' } });
    const changed = await modelOf(api, body.id);
    await api.json('PATCH', `${AGENTS}/${body.id}`, { body: { model: null } });

    expect([status, kept, changed]).toEqual([201, 'llama3.2:3b', 'qwen3:4b']);
    expect(await modelOf(api, body.id)).toBeNull();
  });

  test('may be named without the tag "latest"', async () => {
    const { create } = await open(['mistral:latest']);

    expect((await create('mistral')).status).toBe(201);
  });

  test('is refused where the model server does not have it, with ten that it has', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `m${String(index).padStart(2, '0')}`);
    const { create } = await open(names);

    const { status, body } = await create('gpt-9');

    const message = `"gpt-9" is not at the model server, which has: ${names.slice(0, 10).join(', ')}`;
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'model', message }],
    });
  });

  test('is refused where the model server has no models yet', async () => {
    const { create } = await open([]);

    const { body } = await create('gpt-9');

    const message = '"gpt-9" is not at the model server, which has no models';
    expect(body.error.details).toEqual([{ path: 'model', message }]);
  });

  test('is refused in a change too, which changes nothing', async () => {
    const { api, create } = await open();
    const { body } = await create('qwen3:4b');

    const change = { model: 'gpt-9', name: 'Other' };
    const { status } = await api.json('PATCH', `${AGENTS}/${body.id}`, { body: change });

    expect(status).toBe(400);
    expect((await api.json('GET', `${AGENTS}/${body.id}`)).body).toMatchObject({
      model: 'qwen3:4b',
      name: 'Till',
    });
  });

  test('is taken a moment after the model server has got it', async () => {
    const { create, languageModels } = await open([]);
    languageModels.there = ['new:1b'];

    expect((await create('new:1b')).status).toBe(201);
  });

  test('is taken as it is while the model server does not answer', async () => {
    const { create, languageModels } = await open([]);
    languageModels.there = undefined;

    expect((await create('gpt-9')).status).toBe(201);
  });

  test('stays in changes of other fields, even where the model server has it no longer', async () => {
    const { api, create, languageModels } = await open();
    const { body } = await create('llama3.2:3b');
    languageModels.there = languageModels.listed = ['qwen3:4b'];

    const change = { model: 'llama3.2:3b', greeting: 'Hi' };
    const { status } = await api.json('PATCH', `${AGENTS}/${body.id}`, { body: change });

    expect([status, await modelOf(api, body.id)]).toEqual([200, 'llama3.2:3b']);
  });

  test('is refused where the engine has one model only', async () => {
    const api = await openTestApi();

    const { status, body } = await api.json('POST', AGENTS, {
      body: { ...DRAFT, model: 'qwen3:4b' },
    });

    const message = `expected null: this server's engine has no other model than "scripted"`;
    expect(status).toBe(400);
    expect(body.error.details).toEqual([{ path: 'model', message }]);
  });

  test.each([
    ['an empty name', ''],
    ['blanks around it', ' qwen3:4b'],
    ['a line break', 'qwen3\n:4b'],
    ['more than 200 characters', 'm'.repeat(201)],
    ['a number', 3],
  ])('is no %s', async (_what, model) => {
    const { create, languageModels } = await open();

    expect((await create(model)).status).toBe(400);
    expect(languageModels.asked).toBe(0);
  });
});

describe('versions', () => {
  async function changedOnce() {
    const opened = await open();
    const { body } = await opened.create('llama3.2:3b');
    opened.api.store.clock.advance(1000);
    await opened.api.json('PATCH', `${AGENTS}/${body.id}`, { body: { model: 'qwen3:4b' } });
    const versions = `${AGENTS}/${body.id}/versions`;
    return { ...opened, id: body.id as string, versions };
  }

  test('have the model of each change, and restore it', async () => {
    const { api, id, versions } = await changedOnce();

    const { body } = await api.json('GET', versions);
    const restored = await api.json('POST', `${versions}/1/restore`);

    expect(body.data).toMatchObject([
      { version: 2, changed: ['model'], agent: { model: 'qwen3:4b' } },
      { version: 1, changed: [], agent: { model: 'llama3.2:3b' } },
    ]);
    expect(restored.body).toMatchObject({ id, model: 'llama3.2:3b' });
  });

  test('are not restored where the model server has their model no longer', async () => {
    const { api, id, languageModels, versions } = await changedOnce();
    languageModels.there = languageModels.listed = ['qwen3:4b'];

    const { status, body } = await api.json('POST', `${versions}/1/restore`);

    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'model']);
    expect(await modelOf(api, id)).toBe('qwen3:4b');
  });
});

describe('GET /api/language-models', () => {
  test('answers with the own model and the names that may be chosen', async () => {
    const { api } = await open();

    const { status, body } = await api.json('GET', '/api/language-models');

    expect(status).toBe(200);
    expect(body).toEqual({ ownModel: 'ollama/qwen3:4b', models: ['llama3.2:3b', 'qwen3:4b'] });
  });

  test('has no names while the model server does not answer', async () => {
    const { api, languageModels } = await open();
    languageModels.listed = undefined;

    const { status, body } = await api.json('GET', '/api/language-models');

    expect([status, body]).toEqual([200, { ownModel: 'ollama/qwen3:4b', models: [] }]);
  });

  test('needs a key', async () => {
    const { api } = await open();

    expect((await api.request('GET', '/api/language-models', { key: null })).status).toBe(401);
  });
});
