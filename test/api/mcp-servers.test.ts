/** `/api/mcp-servers` over REST. */
import { expect, test } from 'vitest';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';

const SERVER = {
  name: 'shop',
  url: 'https://shop.example.com/mcp',
  headers: [{ name: 'Authorization', value: 'Bearer secret', secret: true }],
  allowedTools: ['find_order'],
};

const TOOL = {
  name: 'order_status',
  description: 'Looks up an order.',
  parameters: { type: 'object' },
  method: 'GET',
  url: 'https://shop.example.com/orders',
};

const AGENT = { name: 'n', greeting: 'Hello.', systemPrompt: 's' };

const make = (api: TestApi, fields: object = {}) =>
  api.json('POST', '/api/mcp-servers', { body: { ...SERVER, ...fields } });

test('a server is made, listed, shown, changed and deleted, and its secret is never shown', async () => {
  const api = await openTestApi();

  const made = await make(api);
  const listed = await api.json('GET', '/api/mcp-servers');
  const patched = await api.json('PATCH', '/api/mcp-servers/shop', {
    body: { allowedTools: ['find_order', 'cancel_order'] },
  });
  const shown = await api.json('GET', '/api/mcp-servers/shop');
  const gone = await api.request('DELETE', '/api/mcp-servers/shop');

  const hidden = [{ name: 'Authorization', value: null, secret: true }];
  expect(made).toMatchObject({ status: 201, body: { ...SERVER, headers: hidden } });
  expect(listed.body).toMatchObject({ total: 1, data: [{ name: 'shop', headers: hidden }] });
  expect(patched.status).toBe(200);
  expect(shown.body).toMatchObject({ allowedTools: ['find_order', 'cancel_order'] });
  expect(gone.status).toBe(204);
  expect((await api.request('GET', '/api/mcp-servers/shop')).status).toBe(404);
});

test('an agent lists the server among its tools, which then is not deleted', async () => {
  const api = await openTestApi();
  const unknown = await api.json('POST', '/api/agents', { body: { ...AGENT, tools: ['shop'] } });
  await make(api);

  const made = await api.json('POST', '/api/agents', { body: { ...AGENT, tools: ['shop'] } });
  const gone = await api.json('DELETE', '/api/mcp-servers/shop');

  expect(unknown.status).toBe(400);
  expect(made.status).toBe(201);
  expect(gone).toMatchObject({
    status: 409,
    body: { error: { message: 'Cannot delete the MCP server "shop": the agent "n" lists it' } },
  });
});

test('a name belongs to one tool or server', async () => {
  const api = await openTestApi();
  await make(api);
  await api.json('POST', '/api/tools', { body: TOOL });

  const again = await make(api);
  const asTool = await make(api, { name: 'order_status' });
  const asServer = await api.json('POST', '/api/tools', { body: { ...TOOL, name: 'shop' } });
  const builtIn = await make(api, { name: 'send_sms' });

  expect([again, asTool, asServer, builtIn].map(({ status }) => status)).toEqual([
    409, 409, 409, 409,
  ]);
  expect(asServer.body.error.message).toBe(
    'Cannot make the tool "shop": there is an MCP server with this name',
  );
});

test.each([
  ['a name', { name: 'Shop' }, 400],
  ['plain HTTP', { url: 'http://shop.example.com/mcp' }, 400],
  ['a private address', { url: 'https://10.0.0.1/mcp' }, 422],
  ['a tool twice', { allowedTools: ['a', 'a'] }, 400],
  ['too many tools', { allowedTools: Array.from({ length: 33 }, (_, index) => `t${index}`) }, 400],
  ['a header that is none', { headers: [{ name: 'a b', value: 'x' }] }, 400],
  ['an unknown field', { transport: 'sse' }, 400],
])('%s that cannot be is refused', async (_what, fields, status) => {
  const api = await openTestApi();

  expect((await make(api, fields)).status).toBe(status);
});

test('a change to another server wants the secret again', async () => {
  const api = await openTestApi();
  await make(api);

  const moved = await api.json('PATCH', '/api/mcp-servers/shop', {
    body: { url: 'https://other.example.com/mcp' },
  });
  const empty = await api.json('PATCH', '/api/mcp-servers/shop', { body: {} });

  expect(moved).toMatchObject({ status: 400, body: { error: { details: [{ path: 'headers' }] } } });
  expect(empty.status).toBe(400);
});

test('a trial says which allowed tools the server has not', async () => {
  const api = await openTestApi();
  await make(api);

  const { status, body } = await api.json('POST', '/api/mcp-servers/shop/test');

  expect(status).toBe(200);
  expect(body).toMatchObject({
    ok: false,
    tools: [],
    problem: 'the server has no tool find_order',
  });
});
