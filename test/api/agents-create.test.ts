import { describe, expect, test } from 'vitest';
import { openTestApi, TEST_KEY } from '../support/api/test-api.ts';

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const NUMBER = '+390612345678';

const WORD = { written: 'Nguyen', spoken: 'nwin' };

const manyWords = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...WORD, written: `word${index}` }));

describe('POST /api/agents', () => {
  test('answers 201 with exactly id, name, status and createdAt', async () => {
    const api = await openTestApi();

    const { status, body } = await api.json('POST', '/api/agents', { body: DRAFT });

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^agent_[0-9A-Za-z]{24}$/),
      name: 'Till',
      status: 'active',
      createdAt: '2026-11-20T12:00:00.000Z',
    });
  });

  test.each([
    ['no name', { ...DRAFT, name: undefined }, 'name'],
    ['an empty name', { ...DRAFT, name: '' }, 'name'],
    ['a name of blanks', { ...DRAFT, name: ' \t\u00a0' }, 'name'],
    ['a name of 121 characters', { ...DRAFT, name: 'n'.repeat(121) }, 'name'],
    ['half a character', { ...DRAFT, name: 'a\ud800' }, 'name'],
    ['a NUL', { ...DRAFT, greeting: 'Good\0bye' }, 'greeting'],
    ['a greeting of 2,001 characters', { ...DRAFT, greeting: 'g'.repeat(2001) }, 'greeting'],
    [
      'a prompt of 20,001 characters',
      { ...DRAFT, systemPrompt: 's'.repeat(20_001) },
      'systemPrompt',
    ],
    ['a number that is no string', { ...DRAFT, phoneNumber: 390612345678 }, 'phoneNumber'],
    ['a number that is null', { ...DRAFT, phoneNumber: null }, 'phoneNumber'],
    ['an unknown tool', { ...DRAFT, tools: ['send_sms', 'fly'] }, 'tools.1'],
    ['a tool twice', { ...DRAFT, tools: ['send_sms', 'send_sms'] }, 'tools'],
    [
      'a call of 9 s',
      { ...DRAFT, settings: { maxDurationSeconds: 9 } },
      'settings.maxDurationSeconds',
    ],
    [
      'a call of 14,401 s',
      { ...DRAFT, settings: { maxDurationSeconds: 14_401 } },
      'settings.maxDurationSeconds',
    ],
    [
      'a silence of 1 s',
      { ...DRAFT, settings: { silenceTimeoutSeconds: 1 } },
      'settings.silenceTimeoutSeconds',
    ],
    [
      'a silence of 121 s',
      { ...DRAFT, settings: { silenceTimeoutSeconds: 121 } },
      'settings.silenceTimeoutSeconds',
    ],
    [
      'half a second',
      { ...DRAFT, settings: { maxDurationSeconds: 60.5 } },
      'settings.maxDurationSeconds',
    ],
    [
      'a word said twice',
      { ...DRAFT, settings: { pronunciations: [WORD, WORD] } },
      'settings.pronunciations',
    ],
    [
      '101 words',
      { ...DRAFT, settings: { pronunciations: manyWords(101) } },
      'settings.pronunciations',
    ],
    [
      'a word with blanks around it',
      { ...DRAFT, settings: { pronunciations: [{ ...WORD, written: ' a' }] } },
      'settings.pronunciations.0.written',
    ],
    [
      'a word said without a sound',
      { ...DRAFT, settings: { pronunciations: [{ ...WORD, spoken: '[[]]' }] } },
      'settings.pronunciations.0.spoken',
    ],
    [
      'a word said at length',
      { ...DRAFT, settings: { pronunciations: [{ ...WORD, spoken: 'a'.repeat(121) }] } },
      'settings.pronunciations.0.spoken',
    ],
    ['a language that is none', { ...DRAFT, language: 'en_US' }, 'language'],
    ['a voice that is an option', { ...DRAFT, voice: '--help' }, 'voice'],
    ['an unknown language', { ...DRAFT, language: 'xx-XX' }, 'language'],
    ['an unknown voice', { ...DRAFT, voice: 'en-US-Jeny' }, 'voice'],
    ['a blank greeting', { ...DRAFT, greeting: ' \n' }, 'greeting'],
    ['a blank prompt', { ...DRAFT, systemPrompt: '\t' }, 'systemPrompt'],
    ['an unknown field', { ...DRAFT, nickname: 'T' }, 'nickname'],
    ['an unknown setting', { ...DRAFT, settings: { speed: 2 } }, 'settings.speed'],
    ['a status', { ...DRAFT, status: 'paused' }, 'status'],
    ['an id', { ...DRAFT, id: 'agent_mine' }, 'id'],
    ['another account', { ...DRAFT, accountId: 'acct_foreign' }, 'accountId'],
    ['a list', [DRAFT], ''],
    ['null', null, ''],
  ])('answers 400 to %s, naming the field', async (_case, body, path) => {
    const api = await openTestApi();

    const answer = await api.json('POST', '/api/agents', { body });

    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toContain(
      path,
    );
  });

  test('answers 400 to a __proto__ in the body, and makes nothing', async () => {
    const api = await openTestApi();
    const text = JSON.stringify(DRAFT).replace('{', '{"__proto__":{"status":"paused"},');

    const { status, body } = await api.json('POST', '/api/agents', { text });

    expect([status, body.error.details[0]?.path]).toEqual([400, '__proto__']);
  });

  test('names every wrong field at once', async () => {
    const api = await openTestApi();

    const { body } = await api.json('POST', '/api/agents', { body: { name: 5, extra: 1 } });

    const paths = body.error.details.map((detail: { path: string }) => detail.path);
    expect(paths.sort()).toEqual(['extra', 'greeting', 'name', 'systemPrompt']);
  });

  test.each([
    '0612345678',
    '+39061',
    '+9991234567',
    '',
  ])('answers 422 to the number "%s"', async (phoneNumber) => {
    const api = await openTestApi();

    const answer = await api.json('POST', '/api/agents', { body: { ...DRAFT, phoneNumber } });

    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'UNPROCESSABLE' } } });
  });

  test('answers 409 to a number that another agent of the environment holds', async () => {
    const api = await openTestApi();
    const body = { ...DRAFT, phoneNumber: NUMBER };
    await api.request('POST', '/api/agents', { body });

    const again = await api.json('POST', '/api/agents', { body });
    const sandbox = await api.json('POST', '/api/agents', { body, key: TEST_KEY });

    expect(again).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect(sandbox.status).toBe(201);
  });
});
