import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTestApi, type TestApi } from '../support/api/test-api.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const NUM_RUNS = 150;

/** Anything that JSON can say, under field names that mean something here as often as not. */
const bodies = fc.oneof(
  fc.json(),
  fc
    .dictionary(
      fc.constantFrom(
        'name',
        'greeting',
        'systemPrompt',
        'voice',
        'language',
        'phoneNumber',
        'tools',
        'settings',
        'status',
        '__proto__',
        'constructor',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('+390612345678', 'active', 'en-US', ['send_sms'], {
          maxDurationSeconds: 60,
          transferTargets: [{ label: 'a', number: '+390612345678' }],
        }),
      ),
    )
    .map((fields) => JSON.stringify({ name: 'n', greeting: 'g', systemPrompt: 's', ...fields })),
  fc.string(),
);

const queries = fc
  .array(
    fc.tuple(
      fc.constantFrom('limit', 'offset', 'status', 'agentId', 'direction', 'startDate', 'endDate'),
      fc.oneof(
        fc.string(),
        fc.integer().map(String),
        fc.constantFrom('2026-11-20', '0000-00-00', '9999-12-31', 'active', 'completed', 'inbound'),
      ),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => new URLSearchParams(pairs).toString());

/** What every answer must be, whatever was asked. */
async function expectHonestAnswer(response: Response): Promise<void> {
  expect(response.status).toBeLessThan(500);
  const body = JSON.parse(await response.text());
  if (response.status < 400) return;
  expect(body.error.status).toBe(response.status);
  expect(body.error.requestId).toBe(response.headers.get('X-Request-Id'));
}

async function openWithAgent(): Promise<TestApi> {
  const api = await openTestApi();
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
  return api;
}

test.each([
  ['POST', '/api/agents'],
  ['PATCH', '/api/agents/agent_1'],
])('%s %s never answers 500, whatever the body', async (method, path) => {
  const api = await openWithAgent();

  await fc.assert(
    fc.asyncProperty(bodies, async (text) => {
      await expectHonestAnswer(await api.request(method, path, { text }));
    }),
    { numRuns: NUM_RUNS },
  );
});

test.each([
  '/api/agents',
  '/api/calls',
])('GET %s never answers 500, whatever the query', async (path) => {
  const api = await openWithAgent();

  await fc.assert(
    fc.asyncProperty(queries, async (query) => {
      await expectHonestAnswer(await api.request('GET', `${path}?${query}`));
    }),
    { numRuns: NUM_RUNS },
  );
});

test('Any path and method never answers 500', async () => {
  const api = await openWithAgent();
  const segments = fc.array(fc.string({ unit: 'binary' }).map(encodePath), { maxLength: 4 });
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');

  await fc.assert(
    fc.asyncProperty(methods, segments, async (method, path) => {
      await expectHonestAnswer(await api.request(method, `/api/${path.join('/')}`));
    }),
    { numRuns: NUM_RUNS },
  );
});

test('An agent that was taken with any text is given back with the same', async () => {
  const api = await openWithAgent();
  const text = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
    // A greeting without a letter or digit is refused: a voice makes no sound of it.
    .filter((one) => /[\p{L}\p{N}]/u.test(one));

  await fc.assert(
    fc.asyncProperty(text, async (greeting) => {
      const body = { name: 'n', greeting, systemPrompt: 's' };
      const made = await api.json('POST', '/api/agents', { body });
      const shown = await api.json('GET', `/api/agents/${made.body.id}`);

      expect(shown.body).toMatchObject({ greeting });
    }),
    { numRuns: NUM_RUNS },
  );
});

/** Lone surrogates cannot stand in a URL. */
function encodePath(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}
