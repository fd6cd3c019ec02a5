/** The page's way to the server: its key is kept in memory, renewed in time, and asked for once at a time. */
import { expect, test } from 'vitest';
import { ApiClient, queryText } from '../../src/dashboard/api-client.ts';
import { ApiError, messagesByField } from '../../src/dashboard/api-error.ts';

const KEY_LIFE_MS = 900_000;

/** A server that hands out numbered keys; `answer` says what `/api` does with each request. */
function world(answer: (key: string) => Response = () => Response.json({ fine: true })) {
  const asked: string[] = [];
  let [nowMs, keys, signedOut] = [0, 0, 0];
  const serve = async (input: string | URL | Request, init?: RequestInit) => {
    const path = String(input);
    const headers = new Headers(init?.headers);
    asked.push(`${init?.method} ${path}`);
    if (path === 'dashboard/login') return Response.json({ csrfToken: 'c', accounts: [] });
    if (path !== 'dashboard/key') return answer(headers.get('authorization') ?? '');
    if (headers.get('x-csrf-token') !== 'c') return Response.json({}, { status: 401 });
    keys += 1;
    return Response.json({
      key: `key${keys}`,
      expiresAt: new Date(nowMs + KEY_LIFE_MS).toISOString(),
    });
  };
  const client = new ApiClient({
    fetch: serve,
    nowMs: () => nowMs,
    onSignedOut: () => {
      signedOut += 1;
    },
  });
  client.use({ accountId: 'acct_1', environment: 'test' });
  return {
    client,
    asked,
    advance: (ms: number) => {
      nowMs += ms;
    },
    signedOut: () => signedOut,
  };
}

const keysAsked = (asked: readonly string[]) =>
  asked.filter((request) => request === 'POST dashboard/key').length;

test('api asks for one key, however many requests wait for it', async () => {
  const { client, asked } = world();
  await client.login('secret');

  await Promise.all([client.api('api/calls'), client.api('api/agents'), client.api('api/keys')]);

  expect(keysAsked(asked)).toBe(1);
});

test('api renews the key a minute before its end, and not before', async () => {
  const used: string[] = [];
  const { client, advance } = world((key) => {
    used.push(key);
    return Response.json({});
  });
  await client.login('secret');

  await client.api('api/calls');
  advance(KEY_LIFE_MS - 61_000);
  await client.api('api/calls');
  advance(2000);
  await client.api('api/calls');

  expect(used).toEqual(['Bearer key1', 'Bearer key1', 'Bearer key2']);
});

test('all follows the cursor of a list that has one, and asks by offset for others', async () => {
  const item = (id: number) => ({ id });
  const pages = [
    { data: Array.from({ length: 100 }, (_, id) => item(id)), nextCursor: 'c1' },
    { data: [item(100)], nextCursor: null },
    { data: Array.from({ length: 100 }, (_, id) => item(id)) },
    { data: [] },
  ];
  const { client, asked } = world(() => Response.json(pages.shift()));
  await client.login('secret');

  const calls = await client.all('api/calls', 1000);
  await client.all('api/agents', 1000);

  expect(calls).toHaveLength(101);
  expect(asked.slice(2)).toEqual([
    'GET api/calls?limit=100&offset=0',
    'GET api/calls?limit=100&cursor=c1',
    'GET api/agents?limit=100&offset=0',
    'GET api/agents?limit=100&offset=100',
  ]);
});

test('api tries once more with a new key when the server no longer knows the old one', async () => {
  const { client, asked } = world((key) =>
    key === 'Bearer key1' ? Response.json({}, { status: 401 }) : Response.json({ fine: true }),
  );
  await client.login('secret');

  const body = await client.api('api/calls');

  expect(body).toEqual({ fine: true });
  expect(keysAsked(asked)).toBe(2);
});

test('api gives up after the second refusal', async () => {
  const { client, asked } = world(() => Response.json({}, { status: 401 }));
  await client.login('secret');

  const refused = client.api('api/calls');

  await expect(refused).rejects.toMatchObject({ status: 401 });
  expect(keysAsked(asked)).toBe(2);
});

test('api says that the session is over when no key is given', async () => {
  const { client, signedOut } = world();

  const refused = client.api('api/calls');

  await expect(refused).rejects.toBeInstanceOf(ApiError);
  expect(signedOut()).toBe(1);
});

test('a late refusal of the session before does not end the one that has begun since', async () => {
  const { client, signedOut } = world();

  const refused = client.api('api/calls').catch(() => undefined);
  await client.login('secret');
  await refused;

  expect(signedOut()).toBe(0);
});

test('use drops the key of the account or environment before', async () => {
  const { client, asked } = world();
  await client.login('secret');
  await client.api('api/calls');

  client.use({ accountId: 'acct_1', environment: 'live' });
  await client.api('api/calls');

  expect(keysAsked(asked)).toBe(2);
});

test('api throws what the envelope says, with the messages by field', async () => {
  const error = {
    code: 'VALIDATION_ERROR',
    message: 'Wrong',
    status: 400,
    requestId: 'req_1',
    details: [
      { path: 'name', message: 'first' },
      { path: 'name', message: 'second' },
    ],
  };
  const { client } = world(() => Response.json({ error }, { status: 400 }));
  await client.login('secret');

  const caught: unknown = await client.api('api/agents').catch((thrown: unknown) => thrown);

  expect(caught).toMatchObject({ code: 'VALIDATION_ERROR', message: 'Wrong', requestId: 'req_1' });
  expect(messagesByField(caught)).toEqual({ name: 'first' });
});

test('a server that does not answer is an error with status 0', async () => {
  const client = new ApiClient({
    fetch: () => Promise.reject(new TypeError('fetch failed')),
    nowMs: () => 0,
    onSignedOut: () => undefined,
  });

  await expect(client.state()).rejects.toMatchObject({ status: 0, code: 'UNREACHABLE' });
});

test.each([
  [{}, ''],
  [{ a: undefined, b: '' }, ''],
  [{ limit: 50, name: 'a&b=c' }, '?limit=50&name=a%26b%3Dc'],
])('queryText(%o)', (query, text) => {
  expect(queryText(query)).toBe(text);
});

test('in asks with a key of the other environment, and leaves its own as it is', async () => {
  const scopes: string[] = [];
  const client = new ApiClient({
    fetch: async (input, init) => {
      if (String(input) === 'dashboard/login') return Response.json({ csrfToken: 'c' });
      if (String(input) !== 'dashboard/key') {
        return Response.json({ key: new Headers(init?.headers).get('authorization') });
      }
      scopes.push(String(init?.body));
      const { environment } = JSON.parse(String(init?.body)) as { environment: string };
      return Response.json({ key: environment, expiresAt: new Date(KEY_LIFE_MS).toISOString() });
    },
    nowMs: () => 0,
    onSignedOut: () => undefined,
  });
  client.use({ accountId: 'acct_1', environment: 'test' });
  await client.login('secret');

  const [other, own] = [await client.in('live').api('api/calls'), await client.api('api/calls')];

  expect([other, own]).toEqual([{ key: 'Bearer live' }, { key: 'Bearer test' }]);
  expect(scopes).toContain(JSON.stringify({ accountId: 'acct_1', environment: 'live' }));
});
