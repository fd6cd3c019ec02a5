/** The `voicemail` setting of agents. */
import { expect, test } from 'vitest';
import { openTestApi } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

test.each([
  [{ action: 'hang_up' }, { action: 'hang_up', message: null }],
  [
    { action: 'leave_message', message: 'Call us back.' },
    { action: 'leave_message', message: 'Call us back.' },
  ],
])('an agent keeps voicemail %j', async (voicemail, kept) => {
  const api = await openTestApi();
  const body = { ...DRAFT, settings: { voicemail } };
  const created = await api.json('POST', '/api/agents', { body });

  const { body: agent } = await api.json('GET', `/api/agents/${created.body.id}`);

  expect(agent).toMatchObject({ settings: { voicemail: kept } });
});

test.each([
  [{ action: 'leave_message' }, 'settings.voicemail.message'],
  [{ action: 'leave_message', message: ' ' }, 'settings.voicemail.message'],
  [{ action: 'leave_message', message: 'x'.repeat(1001) }, 'settings.voicemail.message'],
  [{ action: 'wait' }, 'settings.voicemail.action'],
  [{}, 'settings.voicemail.action'],
])('a voicemail setting that cannot be obeyed is refused by its field: %j', async (voicemail, path) => {
  const api = await openTestApi();
  const body = { ...DRAFT, settings: { voicemail } };

  const { status, body: answer } = await api.json('POST', '/api/agents', { body });

  expect(status).toBe(400);
  expect(answer.error.details).toMatchObject([{ path }]);
});
