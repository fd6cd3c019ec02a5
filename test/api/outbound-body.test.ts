import { describe, expect, test } from 'vitest';
import { openWorld, PATH, queuedOf, start, TO } from './outbound-world.ts';

describe('POST /api/calls/outbound', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));

  const numbered = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-H${index}`, 'a']));

  test.each([
    ['no agent', { agentId: undefined }, 'agentId'],
    ['an agent that is no string', { agentId: 5 }, 'agentId'],
    ['no number', { to: undefined }, 'to'],
    ['a number that is no string', { to: 390612345678 }, 'to'],
    ['a calling number that is null', { from: null }, 'from'],
    ['metadata that is a list', { metadata: [1] }, 'metadata'],
    ['51 keys of metadata', { metadata: keys(51) }, 'metadata'],
    ['more than 16 KiB of metadata', { metadata: { a: 'x'.repeat(16_377) } }, 'metadata'],
    ['metadata that is too deep', { metadata: { a: deep(8) } }, 'metadata'],
    ['an unknown override', { overrides: { tools: [] } }, 'overrides.tools'],
    ['an empty greeting', { overrides: { greeting: '' } }, 'overrides.greeting'],
    [
      'a greeting of 2,001 characters',
      { overrides: { greeting: 'x'.repeat(2001) } },
      'overrides.greeting',
    ],
    [
      'a prompt of 20,001 characters',
      { overrides: { systemPrompt: 'x'.repeat(20_001) } },
      'overrides.systemPrompt',
    ],
    ['a call of 9 s', { overrides: { maxDurationSeconds: 9 } }, 'overrides.maxDurationSeconds'],
    [
      'a call of 14,401 s',
      { overrides: { maxDurationSeconds: 14_401 } },
      'overrides.maxDurationSeconds',
    ],
    ['a language that is none', { overrides: { language: 'en_US' } }, 'overrides.language'],
    ['a voice that is an option', { overrides: { voice: '--help' } }, 'overrides.voice'],
    ['an unknown language', { overrides: { language: 'xx-XX' } }, 'overrides.language'],
    ['an unknown voice', { overrides: { voice: 'en-US-Jeny' } }, 'overrides.voice'],
    ['a blank greeting', { overrides: { greeting: ' \n' } }, 'overrides.greeting'],
    ['a header that routes calls', { headers: { Route: '<sip:a.example;lr>' } }, 'headers.Route'],
    [
      'a header of identity',
      { headers: { 'P-Asserted-Identity': 'a' } },
      'headers.P-Asserted-Identity',
    ],
    ['a line break in a header', { headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers.X-A'],
    ['a bare line feed in a header', { headers: { 'X-A': 'a\nb' } }, 'headers.X-A'],
    ['NUL in a header', { headers: { 'User-to-User': 'a\0' } }, 'headers.User-to-User'],
    ['a header beyond ASCII', { headers: { 'X-A': 'é' } }, 'headers.X-A'],
    ['a header of 256 characters', { headers: { 'X-A': 'a'.repeat(256) } }, 'headers.X-A'],
    ['an empty header', { headers: { 'X-A': '' } }, 'headers.X-A'],
    ['a header that is a number', { headers: { 'X-A': 1 } }, 'headers.X-A'],
    ['a header that ends with a space', { headers: { 'X-A': 'a ' } }, 'headers.X-A'],
    ['a header name with a line break', { headers: { 'X-A\r\nVia': 'a' } }, 'headers.X-A\r\nVia'],
    [
      'a header name of 65 characters',
      { headers: { [`X-${'a'.repeat(63)}`]: 'a' } },
      `headers.X-${'a'.repeat(63)}`,
    ],
    ['one header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a'],
    ['11 headers', { headers: numbered(11) }, 'headers'],
    ['headers that are a list', { headers: ['X-A: 1'] }, 'headers'],
    ['headers that are null', { headers: null }, 'headers'],
    ['an unknown field', { scenario: 'busy' }, 'scenario'],
    ['an account', { accountId: 'acct_foreign' }, 'accountId'],
  ])('answers 400 to %s, naming the field', async (_what, body, path) => {
    const api = await openWorld();

    const response = await start(api, body);
    const answer = (await response.json()) as {
      error: { code: string; details: { path: string }[] };
    };

    expect([response.status, answer.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.error.details.map((detail) => detail.path)).toContain(path);
    expect(await queuedOf(api)).toEqual([]);
  });

  test.each([
    ['50 keys', { metadata: keys(50) }],
    ['16 KiB', { metadata: { a: 'x'.repeat(16_376) } }],
    ['8 levels', { metadata: { a: deep(7) } }],
    ['none', { metadata: {} }],
    ['10 headers', { headers: numbered(10) }],
    ['no header', { headers: {} }],
    [
      'every override',
      {
        overrides: {
          greeting: 'x',
          systemPrompt: 'y',
          voice: 'de-DE-KatjaNeural',
          language: 'de-DE',
          maxDurationSeconds: 14_400,
        },
      },
    ],
  ])('takes %s', async (_what, body) => {
    const api = await openWorld();

    expect((await start(api, body)).status).toBe(202);
  });

  test.each([
    ['the key __proto__', '{"__proto__":{"polluted":true}}', 'metadata.__proto__'],
    ['that key further in', '{"a":[{"__proto__":1}]}', 'metadata.a.0.__proto__'],
    ['a NUL in a text', '{"a":{"b":"\\u0000"}}', 'metadata.a.b'],
    ['half a character in a text', '{"a":["\\ud800"]}', 'metadata.a.0'],
    ['a NUL in a key', '{"a":{"\\u0000":1}}', 'metadata.a'],
    ['a number that is too large', '{"a":{"b":1e400}}', 'metadata.a.b'],
    ['one that is too small', '{"a":[-1e400]}', 'metadata.a.0'],
    ['half a character in a key', '{"\\ud800":1}', 'metadata'],
  ])('answers 400 to metadata with %s, naming where', async (_what, metadata, path) => {
    const api = await openWorld();
    const text = `{"agentId":"agent_live","to":"${TO}","metadata":${metadata}}`;

    const { status, body } = await api.json('POST', PATH, { text });

    expect([status, body.error.details.map((detail) => detail.path)]).toEqual([400, [path]]);
    expect(await queuedOf(api)).toEqual([]);
  });

  test('answers 400 to the header __proto__', async () => {
    const api = await openWorld();
    const text = `{"agentId":"agent_live","to":"${TO}","headers":{"__proto__":"a"}}`;

    const { status, body } = await api.json('POST', PATH, { text });

    expect([status, body.error.details.map((detail) => detail.path)]).toEqual([
      400,
      ['headers.__proto__'],
    ]);
  });

  test('keeps headers for the dialer, separate from overrides', async () => {
    const api = await openWorld();
    const headers = { 'X-Customer': 'c-1029', 'User-to-User': `${'0'.repeat(242)};encoding=hex` };

    await start(api, { headers, overrides: { greeting: 'Hello' } });

    expect((await queuedOf(api))[0]?.overrides).toEqual({ greeting: 'Hello', sipHeaders: headers });
  });

  test('keeps metadata of every shape as it came', async () => {
    const api = await openWorld();
    const metadata = {
      a: [1, null, { b: 'é 🦊', constructor: true }],
      '': -0.5,
      max: Number.MAX_VALUE,
    };

    await start(api, { metadata });

    expect((await queuedOf(api))[0]?.metadata).toEqual(metadata);
  });
});
