/** The checklist of the overview, and what it says is wrong. */
import { expect, test } from 'vitest';
import type { Engine, Readiness } from '../../src/dashboard/api-types.ts';
import { problemsOf, type ServerFacts, stepsOf } from '../../src/dashboard/first-steps.ts';

const ENGINE: Engine = {
  job: 'llm',
  engine: 'ollama/qwen3:4b',
  reason: 'chosen',
  state: 'ready',
  standIn: null,
  limitation: null,
  replacement: null,
};

const NEW_SERVER: ServerFacts = {
  engines: [{ ...ENGINE, standIn: 'rule_book' }],
  agents: [],
  callCount: 0,
  trunkCount: 0,
  endpointCount: 0,
};

const AGENT = { id: 'agent_1', name: 'Reception', phoneNumber: null };

const doneIn = (facts: Partial<ServerFacts>) =>
  stepsOf({ ...NEW_SERVER, ...facts })
    .filter(({ isDone }) => isDone)
    .map(({ name }) => name);

test.each<[string, Partial<ServerFacts>, readonly string[]]>([
  ['a new server', {}, []],
  ['every engine is a real one', { engines: [ENGINE] }, ['models']],
  ['an agent without a number', { agents: [AGENT] }, ['agent']],
  [
    'an agent with a number',
    { agents: [{ ...AGENT, phoneNumber: '+12025550123' }] },
    ['agent', 'number'],
  ],
  ['a trunk', { trunkCount: 1 }, ['number']],
  ['a call', { callCount: 1 }, ['talk']],
  ['a webhook endpoint', { endpointCount: 1 }, ['webhook']],
])('stepsOf: done with %s', (_, facts, done) => {
  expect(doneIn(facts)).toEqual(done);
});

test('stepsOf leads to the telephone only where there is an agent', () => {
  const talkOf = (facts: ServerFacts) => stepsOf(facts).find(({ name }) => name === 'talk');

  expect(talkOf(NEW_SERVER)?.address).toBe('#/agents/new');
  expect(talkOf({ ...NEW_SERVER, agents: [AGENT] })?.address).toBeUndefined();
});

test('problemsOf names what failed and why, and leaves stand-ins out', () => {
  const readiness: Readiness = {
    status: 'not_ready',
    engines: [
      { ...ENGINE, standIn: 'rule_book', state: 'degraded' },
      { ...ENGINE, engine: 'whisper', state: 'failed', reason: 'no file' },
    ],
    carriers: [
      { name: 'acme', isReady: false, state: 'registration refused (403)' },
      { name: 'beta', isReady: true, state: 'ready' },
    ],
    checks: [
      { name: 'database', isOk: true, state: 'can be written' },
      { name: 'disk space', isOk: false, state: '1 GB free' },
    ],
  };

  expect(problemsOf(readiness)).toEqual([
    { name: 'whisper', state: 'no file' },
    { name: 'acme', state: 'registration refused (403)' },
    { name: 'disk space', state: '1 GB free' },
  ]);
});
