/** What a call's conversation is told of the agent: overrides and variables. */
import { expect, test } from 'vitest';
import { briefOf } from '../../src/call/session/call-parts.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const CALL = { from: '+12025550100', to: '+12025550199', overrides: {} } as const;

test.each([
  ['en-US', 'Hello.'],
  ['de-DE', 'Hallo.'],
])('briefOf has a greeting in %s where nothing is left of the agent’s', (language, hello) => {
  const agent = buildAgent({ greeting: '{{name}}', language });

  const brief = briefOf(agent, { ...CALL, metadata: {}, direction: 'outbound' });

  expect(brief.greeting).toBe(hello);
});

test('briefOf fills variables into the message for an answering machine', () => {
  const agent = buildAgent({ greeting: 'Hello.' });
  const voicemail = { action: 'leave_message', message: 'Hello {{First Name}}.' } as const;
  const metadata = { 'First Name': 'Ana' };

  const brief = briefOf(agent, {
    ...CALL,
    metadata,
    direction: 'outbound',
    overrides: { voicemail },
  });

  expect(brief.voicemail).toEqual({ action: 'leave_message', message: 'Hello Ana.' });
});
