/** Agents for tests: say what matters, the rest is filled in. */
import {
  type Agent,
  DEFAULT_AGENT_SETTINGS,
  DEFAULT_RESPONSIVENESS,
} from '../../../src/domain/agent/agent.ts';

export function buildAgent(fields: Partial<Agent> = {}): Agent {
  return {
    id: 'agent_1',
    accountId: 'acct_1',
    environment: 'live',
    name: 'Reception',
    greeting: 'Hello, how can I help?',
    systemPrompt: 'You are a receptionist.',
    voice: 'en-US-JennyNeural',
    language: 'en-US',
    phoneNumber: null,
    tools: [],
    responsiveness: DEFAULT_RESPONSIVENESS,
    model: null,
    smsGateway: null,
    calendar: null,
    extract: null,
    successCriteria: null,
    settings: DEFAULT_AGENT_SETTINGS,
    status: 'active',
    createdAt: new Date('2026-11-20T10:00:00.000Z'),
    updatedAt: new Date('2026-11-20T10:00:00.000Z'),
    ...fields,
  };
}
