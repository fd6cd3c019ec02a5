import { describe, expect, test } from 'vitest';
import { FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';

const TOOL = {
  name: 'order_status',
  description: 'Looks up an order.',
  parameters: {
    type: 'object',
    properties: { orderId: { type: 'string', maxLength: 20 } },
    required: ['orderId'],
  },
  method: 'GET',
  url: 'https://shop.example.com/orders/{orderId}',
};

const SECRET = { name: 'Authorization', value: 'Bearer hidden', secret: true };

const AGENT = { name: 'Shop', greeting: 'Hello.', systemPrompt: 'You answer for a shop.' };

async function openWorld() {
  const api = await openTestApi();
  const make = (fields: object = {}) =>
    api.json('POST', '/api/tools', { body: { ...TOOL, ...fields } });
  const agent = (tools: readonly string[], key?: string) =>
    api.json('POST', '/api/agents', {
      body: { ...AGENT, tools },
      ...(key === undefined ? {} : { key }),
    });
  return { api, make, agent };
}

describe('POST /api/tools', () => {
  test('makes a tool with the defaults, which the list and its own path show', async () => {
    const { api, make } = await openWorld();

    const made = await make();

    const defaults = { headers: [], timeoutMs: 10_000, sayWhileWaiting: null, resultPath: null };
    expect(made).toMatchObject({ status: 201, body: { ...TOOL, ...defaults } });
    expect((await api.json('GET', '/api/tools')).body).toMatchObject({
      data: [made.body],
      total: 1,
    });
    expect((await api.json('GET', '/api/tools/order_status')).body).toEqual(made.body);
  });

  test('shows secret header values never, and others always', async () => {
    const { api, make } = await openWorld();
    const plain = { name: 'X-Shop', value: 'north' };

    const made = await make({ headers: [SECRET, plain] });
    const path = '/api/tools/order_status';
    const patched = await api.json('PATCH', path, { body: { description: 'Finds an order.' } });
    const list = await api.json('GET', '/api/tools');

    expect(made.body).toMatchObject({
      headers: [
        { ...SECRET, value: null },
        { ...plain, secret: false },
      ],
    });
    expect(JSON.stringify([made, patched, list])).not.toContain('hidden');
  });

  test.each([
    ['a name with capitals', { name: 'Order' }, 400],
    ['the name of a built-in tool', { name: 'end_call' }, 409],
    [
      'parameters that are no object',
      { parameters: { type: 'string' }, url: 'https://a.example/' },
      400,
    ],
    ['a place that parameters do not require', { url: 'https://a.example/{other}' }, 400],
    ['a place in the host', { url: 'https://{orderId}.example/' }, 400],
    ['http', { url: 'http://shop.example.com/{orderId}' }, 400],
    ['a private address', { url: 'https://10.0.0.1/{orderId}' }, 422],
    ['the address of metadata', { url: 'https://169.254.169.254/{orderId}' }, 422],
    [
      'a header of its own with a line break',
      { headers: [{ name: 'X', value: 'a\r\nB: c' }] },
      400,
    ],
    ['a header that the server sets', { headers: [{ name: 'Host', value: 'a' }] }, 400],
    [
      'a header twice',
      {
        headers: [
          { name: 'X', value: 'a' },
          { name: 'x', value: 'b' },
        ],
      },
      400,
    ],
    ['a time limit under 0.5 s', { timeoutMs: 499 }, 400],
    ['a method that is none', { method: 'TRACE' }, 400],
  ])('answers to %s with what is wrong', async (_case, fields, status) => {
    const { api, make } = await openWorld();

    expect((await make(fields)).status).toBe(status);
    expect((await api.json('GET', '/api/tools')).body.total).toBe(0);
  });

  test('answers 409 to a name that is taken in the environment, and not to that of another', async () => {
    const { api, make } = await openWorld();
    await make();

    const again = await make();
    const elsewhere = await api.json('POST', '/api/tools', { body: TOOL, key: TEST_KEY });

    expect(again.status).toBe(409);
    expect(elsewhere.status).toBe(201);
    expect((await api.request('GET', '/api/tools/order_status', { key: FOREIGN_KEY })).status).toBe(
      404,
    );
  });
});

test('PATCH /api/tools keeps a secret whose value is null, and loses it with its header', async () => {
  const { api, make } = await openWorld();
  await make({ headers: [SECRET] });
  const scope = { accountId: 'acct_main', environment: 'live' } as const;
  const patch = (body: object) => api.json('PATCH', '/api/tools/order_status', { body });
  const stored = async () => (await api.store.customTools.find(scope, 'order_status'))?.headers;

  const kept = await patch({ headers: [{ name: 'Authorization', value: null, secret: false }] });

  expect(kept.body).toMatchObject({ headers: [{ value: null, secret: true }] });
  expect(await stored()).toEqual([SECRET]);
  expect((await patch({ headers: [] })).status).toBe(200);
  expect((await patch({ headers: [{ name: 'Authorization', value: null }] })).status).toBe(400);
  expect((await patch({})).status).toBe(400);
});

test('PATCH /api/tools sends a stored secret to no other server', async () => {
  const { api, make } = await openWorld();
  await make({ headers: [SECRET] });
  const patch = (body: object) => api.json('PATCH', '/api/tools/order_status', { body });
  const url = 'https://elsewhere.example/{orderId}';
  const kept = { headers: [{ name: 'Authorization', value: null }] };

  const refused = [await patch({ url }), await patch({ url, ...kept })];

  expect(refused.map(({ status }) => status)).toEqual([400, 400]);
  expect(refused[0]?.body.error.details).toMatchObject([{ path: 'headers' }]);
  expect((await patch({ url: `${TOOL.url}/more` })).status).toBe(200);
  expect((await patch({ url, headers: [SECRET] })).status).toBe(200);
});

test('An agent lists tools that exist in its environment, which then cannot be deleted', async () => {
  const { api, make, agent } = await openWorld();
  await make();

  const made = await agent(['order_status', 'end_call']);
  const unknown = await agent(['end_call', 'other_tool']);
  const elsewhere = await agent(['order_status'], TEST_KEY);
  const path = `/api/agents/${made.body.id}`;
  const wrong = await api.json('PATCH', path, { body: { tools: ['other_tool'] } });
  const refused = await api.json('DELETE', '/api/tools/order_status');
  const freed = await api.json('PATCH', path, { body: { tools: [] } });
  const deleted = await api.request('DELETE', '/api/tools/order_status');
  const restored = await api.json('POST', `${path}/versions/1/restore`);

  expect(made.status).toBe(201);
  expect(unknown.body.error).toMatchObject({ status: 400, details: [{ path: 'tools.1' }] });
  expect(unknown.body.error.message).toContain('other_tool');
  expect([elsewhere.status, wrong.status, freed.status]).toEqual([400, 400, 200]);
  expect(refused.body.error).toMatchObject({ status: 409, code: 'CONFLICT' });
  expect(deleted.status).toBe(204);
  expect(restored.status).toBe(400);
});

test('POST /api/tools/{toolName}/test gives the arguments to the tool, and tells what came of it', async () => {
  const { api, make } = await openWorld();
  await make();
  const body = { arguments: { orderId: 'A-1' } };

  const { status, body: outcome } = await api.json('POST', '/api/tools/order_status/test', {
    body,
  });

  expect(status).toBe(200);
  expect(outcome).toEqual({ done: true, result: 'Done.', problem: null, tookMs: 1 });
  expect((await api.request('POST', '/api/tools/none/test', { body })).status).toBe(404);
});
