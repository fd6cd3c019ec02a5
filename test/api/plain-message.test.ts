import { expect, test } from 'vitest';
import { openTestApi } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

test.each([
  [{ name: undefined }, 'name', 'is required'],
  [{ name: 7 }, 'name', 'must be text'],
  [{ name: '' }, 'name', 'must have at least 1 character'],
  [{ name: 'x'.repeat(121) }, 'name', 'must have at most 120 characters'],
  [{ greeting: ' ' }, 'greeting', 'expected more than blanks'],
  [{ greeting: '😀 **' }, 'greeting', 'expected something to say'],
  [{ tools: 'end_call' }, 'tools', 'must be a list'],
  [
    { tools: ['fly'] },
    'tools.0',
    '"fly" does not exist; expected transfer_call, send_sms, book_appointment, end_call, send_digits, collect_digits, a tool of GET /api/tools or a server of GET /api/mcp-servers',
  ],
  [{ settings: [] }, 'settings', 'must be an object'],
  [{ settings: { interruptible: 1 } }, 'settings.interruptible', 'must be true or false'],
  [{ settings: { maxDurationSeconds: 9 } }, 'settings.maxDurationSeconds', 'must be at least 10'],
  [
    { settings: { maxDurationSeconds: 10.5 } },
    'settings.maxDurationSeconds',
    'must be a whole number',
  ],
  [
    { settings: { maxDurationSeconds: 1e6 } },
    'settings.maxDurationSeconds',
    'must be at most 14400',
  ],
  [{ nickname: 'T' }, 'nickname', 'Unknown field'],
])('POST /api/agents with %j says in plain words what is wrong', async (fields, path, message) => {
  const api = await openTestApi();

  const { body } = await api.json('POST', '/api/agents', { body: { ...DRAFT, ...fields } });

  expect(body.error.details).toContainEqual({ path, message });
  expect(body.error.message).toBe(`Cannot read the body: ${path}: ${message}`);
});

test('GET with a parameter out of range says so in plain words', async () => {
  const api = await openTestApi();

  const { body } = await api.json('GET', '/api/calls?limit=101&status=gone');

  expect(body.error.details).toEqual([
    { path: 'limit', message: 'must be at most 100' },
    { path: 'status', message: expect.stringMatching(/^must be "queued", .* or "failed"$/) },
  ]);
});
