import { describe, expect, test } from 'vitest';
import { type AnswerBody, openTestApi, TEST_KEY, type TestApi } from '../support/api/test-api.ts';

const ENDPOINTS = '/api/webhooks/endpoints';

const DRAFT = { url: 'https://example.com/hook', events: ['call.started', 'call.ended'] };

async function create(api: TestApi, fields: object = {}): Promise<string> {
  const { status, body } = await api.json('POST', ENDPOINTS, { body: { ...DRAFT, ...fields } });
  expect(status).toBe(201);
  return body.id;
}

function pathsOf(error: AnswerBody['error']): readonly string[] {
  return error.details.map(({ path }) => path);
}

describe('POST /api/webhooks/endpoints', () => {
  test('answers 201 with exactly the fields of the specification', async () => {
    const api = await openTestApi();

    const body = { ...DRAFT, description: 'till' };
    const answer = await api.json('POST', ENDPOINTS, { body });

    expect(answer).toEqual({
      status: 201,
      body: {
        ...DRAFT,
        id: expect.stringMatching(/^we_[0-9A-Za-z]{24}$/),
        description: 'till',
        status: 'active',
        createdAt: '2026-11-20T12:00:00.000Z',
      },
    });
  });

  test('takes every kind, a description of 500 characters and a URL of 2,048', async () => {
    const api = await openTestApi();
    const kinds = 'call.started call.ended call.transcribed appointment.booked call.bridged';
    const url = `https://example.com/${'p'.repeat(2028)}`;

    const body = { url, events: kinds.split(' '), description: 'd'.repeat(500) };
    const answer = await api.json('POST', ENDPOINTS, { body });

    expect(answer).toMatchObject({ status: 201, body });
  });

  test.each([
    ['no url', { url: undefined }, 'url'],
    ['an empty url', { url: '' }, 'url'],
    ['a url that is no string', { url: 7 }, 'url'],
    ['a url of 2,049 characters', { url: `https://example.com/${'p'.repeat(2029)}` }, 'url'],
    ['a url that is none', { url: 'example.com/hook' }, 'url'],
    ['http', { url: 'http://example.com/hook' }, 'url'],
    ['http on this machine', { url: 'http://localhost/hook' }, 'url'],
    ['another scheme', { url: 'ftp://example.com/hook' }, 'url'],
    ['a user name in the url', { url: 'https://me@example.com/hook' }, 'url'],
    ['no events', { events: undefined }, 'events'],
    ['an empty list of events', { events: [] }, 'events'],
    ['an unknown kind', { events: ['call.ended', 'call.lost'] }, 'events.1'],
    ['the kind of tests', { events: ['webhook.test'] }, 'events.0'],
    ['a kind twice', { events: ['call.ended', 'call.ended'] }, 'events'],
    ['a kind that is no list', { events: 'call.ended' }, 'events'],
    ['a description of 501 characters', { description: 'd'.repeat(501) }, 'description'],
    ['a description that is null', { description: null }, 'description'],
    ['half a character', { description: 'a\ud800' }, 'description'],
    ['a status', { status: 'active' }, 'status'],
    ['an id', { id: 'we_mine' }, 'id'],
    ['another account', { accountId: 'acct_foreign' }, 'accountId'],
  ])('answers 400 to %s, naming the field', async (_case, fields, path) => {
    const api = await openTestApi();

    const answer = await api.json('POST', ENDPOINTS, { body: { ...DRAFT, ...fields } });

    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(pathsOf(answer.body.error)).toContain(path);
  });

  test.each([
    'https://10.0.0.1/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.1]/',
  ])('answers 422 to %s', async (url) => {
    const api = await openTestApi();

    const answer = await api.json('POST', ENDPOINTS, { body: { ...DRAFT, url } });

    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'UNPROCESSABLE' } } });
  });

  test('takes this machine, over http too, where the operator has opened it', async () => {
    const webhookUrlRules = { allowLocal: true, allowPrivate: false };
    const api = await openTestApi({ webhookUrlRules });

    await create(api, { url: 'http://localhost:8080/hook' });
    const path = `${ENDPOINTS}/${await create(api)}`;
    const changed = await api.json('PATCH', path, { body: { url: 'http://127.0.0.1/hook' } });

    expect(changed.status).toBe(200);
  });

  test('answers 409 to the 101st of an environment', async () => {
    const api = await openTestApi();
    for (let index = 0; index < 100; index++) await create(api);

    const more = await api.json('POST', ENDPOINTS, { body: DRAFT });
    const sandbox = await api.json('POST', ENDPOINTS, { body: DRAFT, key: TEST_KEY });

    expect(more).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect(sandbox.status).toBe(201);
  });

  test('makes one endpoint, however often a request is repeated with its key', async () => {
    const api = await openTestApi();
    const options = { body: DRAFT, headers: { 'X-Idempotency-Key': 'k1' } };

    const first = await api.json('POST', ENDPOINTS, options);
    const again = await api.json('POST', ENDPOINTS, options);
    const other = await api.json('POST', ENDPOINTS, { ...options, body: { ...DRAFT, url: 'x' } });

    expect(again).toEqual(first);
    expect(other.status).toBe(422);
    expect((await api.json('GET', ENDPOINTS)).body.total).toBe(1);
  });
});
