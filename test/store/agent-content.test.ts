import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_AGENT_SETTINGS } from '../../src/domain/agent/agent.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const NOW = new Date('2026-11-21T12:00:00.000Z');

const words = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .chain((text) =>
    fc
      .constantFrom('"', '\\', '\u0001', '\t\r\n\b\f', '\u007f\u2028', '}', '😀')
      .map((end) => text + end),
  );

const anInstant = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });

const content = fc.record({
  name: words,
  greeting: words,
  systemPrompt: words,
  phoneNumber: fc.constantFrom(null, '+390612345678'),
  tools: fc.subarray(['transfer_call', 'end_call']),
  responsiveness: fc.constantFrom('fast' as const, 'balanced' as const, 'patient' as const),
  model: fc.option(words),
  settings: fc.record({
    maxDurationSeconds: fc.integer({ min: 10, max: 14_400 }),
    silenceTimeoutSeconds: fc.integer({ min: 2, max: 120 }),
    interruptible: fc.boolean(),
    transferTargets: fc.array(fc.record({ label: words, number: fc.constant('+390687654321') })),
    afterTransfer: fc.constantFrom('end', 'return'),
    transferAcceptance: fc.boolean(),
    pronunciations: fc.array(fc.record({ written: words, spoken: words })),
    voicemail: fc.record({ action: fc.constant('leave_message' as const), message: words }),
  }),
  status: fc.constantFrom('active', 'paused'),
  createdAt: anInstant,
  updatedAt: anInstant,
});

test('AgentStore.findWithUsage returns what was saved, whatever characters it holds', async () => {
  const { agents, calls } = await openTestStore();
  await agents.insert(buildAgent());
  for (const [index, durationSeconds] of [57, 600].entries()) {
    const call = { id: `call_${index}`, agentId: 'agent_1', startedAt: NOW, durationSeconds };
    await calls.insert(buildCall({ ...call, createdAt: NOW, status: 'completed' }), []);
  }

  for (const drawn of fc.sample(content, { numRuns: 100, seed: 20_261_122 })) {
    await agents.update(buildAgent(drawn));
    const found = await agents.findWithUsage(SCOPE, 'agent_1', NOW);

    const computed = { totalCallsToday: 2, totalMinutesToday: 11, draftAt: null };
    expect(found).toEqual({ ...buildAgent(drawn), ...computed });
  }
});

test('AgentStore.findWithUsage gives a setting missing from an old row its default', async () => {
  const { agents, file } = await openTestStore();
  await agents.insert(buildAgent());
  const sqlite = new Sqlite(file);
  sqlite.exec(`update agents set settings = '{"interruptible":false}'`);
  sqlite.close();

  const found = await agents.findWithUsage(SCOPE, 'agent_1', NOW);

  expect(found).toMatchObject({
    responsiveness: 'balanced',
    calendar: null,
    settings: { ...DEFAULT_AGENT_SETTINGS, interruptible: false },
  });
});

test('AgentStore.findWithUsage finds no agent of another account or environment', async () => {
  const { agents } = await openTestStore();
  await agents.insert(buildAgent());

  const found = [
    await agents.findWithUsage(SCOPE, 'agent_2', NOW),
    await agents.findWithUsage({ ...SCOPE, accountId: 'acct_2' }, 'agent_1', NOW),
    await agents.findWithUsage({ ...SCOPE, environment: 'test' }, 'agent_1', NOW),
  ];

  expect(found).toEqual([undefined, undefined, undefined]);
});
