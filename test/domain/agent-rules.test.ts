import { describe, expect, test } from 'vitest';
import { createAgent, isSayable, patchAgent } from '../../src/domain/agent/agent-rules.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const NOW = new Date('2026-11-21T09:00:00.000Z');

const DRAFT = { name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.' };

const FACTS = {
  id: 'agent_2',
  scope: { accountId: 'acct_1', environment: 'test' },
  now: NOW,
} as const;

describe('createAgent', () => {
  test('fills in the defaults', () => {
    expect(createAgent(DRAFT, FACTS)).toEqual({
      ...DRAFT,
      id: 'agent_2',
      accountId: 'acct_1',
      environment: 'test',
      voice: 'en-US-JennyNeural',
      language: 'en-US',
      phoneNumber: null,
      tools: [],
      responsiveness: 'balanced',
      model: null,
      smsGateway: null,
      calendar: null,
      extract: null,
      successCriteria: null,
      settings: {
        maxDurationSeconds: 600,
        silenceTimeoutSeconds: 10,
        interruptible: true,
        transferTargets: [],
        afterTransfer: 'end',
        transferAcceptance: true,
        pronunciations: [],
        voicemail: { action: 'continue', message: null },
      },
      status: 'active',
      createdAt: NOW,
      updatedAt: NOW,
    });
  });

  test('merges settings into the defaults', () => {
    const agent = createAgent(
      { ...DRAFT, settings: { interruptible: false, afterTransfer: 'return' } },
      FACTS,
    );

    expect(agent.settings).toMatchObject({
      interruptible: false,
      afterTransfer: 'return',
      transferAcceptance: true,
      maxDurationSeconds: 600,
    });
  });

  test.each([
    { ...DRAFT, phoneNumber: '0612345678' },
    { ...DRAFT, settings: { transferTargets: [{ label: 'sales', number: '112' }] } },
    { ...DRAFT, settings: { transferTargets: [{ label: 'ship', number: '+88213112345' }] } },
    { ...DRAFT, settings: { transferTargets: [{ label: 'quiz', number: '+448712345678' }] } },
  ])('refuses a number that is impossible, or that no transfer could reach, with UNPROCESSABLE', (draft) => {
    expect(() => createAgent(draft, FACTS)).toThrow(
      expect.objectContaining({ code: 'UNPROCESSABLE' }),
    );
  });
});

describe('patchAgent', () => {
  test('changes only the fields that are there, and updatedAt', () => {
    const agent = buildAgent({ phoneNumber: '+390612345678' });

    const changed = patchAgent(agent, { greeting: 'Good day', voice: undefined }, NOW);

    expect(changed).toEqual({ ...agent, greeting: 'Good day', updatedAt: NOW });
  });

  test('merges settings field by field', () => {
    const before = buildAgent();
    const agent = { ...before, settings: { ...before.settings, maxDurationSeconds: 60 } };

    const changed = patchAgent(agent, { settings: { interruptible: false } }, NOW);

    expect(changed.settings).toEqual({ ...agent.settings, interruptible: false });
  });

  test.each(['active', 'paused'] as const)('refuses to make an agent %s twice', (status) => {
    const agent = buildAgent({ status });

    expect(() => patchAgent(agent, { status, name: 'Other' }, NOW)).toThrow(
      expect.objectContaining({ code: 'CONFLICT' }),
    );
  });

  test('pauses and resumes', () => {
    const paused = patchAgent(buildAgent(), { status: 'paused' }, NOW);
    const active = patchAgent(paused, { status: 'active' }, NOW);

    expect([paused.status, active.status]).toEqual(['paused', 'active']);
  });

  test.each([{}, { name: undefined }])('refuses an empty patch', (patch) => {
    expect(() => patchAgent(buildAgent(), patch, NOW)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR' }),
    );
  });

  test('refuses an impossible number with UNPROCESSABLE', () => {
    expect(() => patchAgent(buildAgent(), { phoneNumber: '+1555' }, NOW)).toThrow(
      expect.objectContaining({ code: 'UNPROCESSABLE' }),
    );
  });

  test('gives two changes within a millisecond different times', () => {
    const first = patchAgent(buildAgent(), { name: 'A' }, NOW);
    const second = patchAgent(first, { name: 'B' }, NOW);

    expect(second.updatedAt.getTime()).toBe(NOW.getTime() + 1);
  });
});

test.each([
  ['Yes.', true],
  ['9', true],
  ['…', false],
  ['—', false],
])('isSayable says of "%s": %s', (text, expected) => {
  expect(isSayable(text)).toBe(expected);
});
