import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentSummary } from '../../src/domain/agent/agent.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/store.ts';
import { buildAgent } from '../support/build-agent.ts';
import { buildCall } from '../support/build-call.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { openTestStore } from '../support/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const NOW = new Date('2026-11-21T12:00:00.000Z');

/** The item of the interface's list, made of an object. */
function itemOf(agent: AgentSummary): object {
  const { accountId: _1, environment: _2, createdAt, updatedAt, ...shown } = agent;
  const instants = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  const { id, name, status, voice, language, phoneNumber, ...usage } = shown;
  return { id, name, status, voice, language, phoneNumber, ...usage, ...instants };
}

test('AgentStore.listText gives the text that objects would give, whatever the names and instants', async () => {
  const { agents, calls } = await openTestStore();
  const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
  const odd = fc.constantFrom('"', '\\', '\u0001', '\t\r\n\b\f', '\u007f\u2028', '</a>', '😀');
  const names = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .chain((name) => odd.map((end) => name + end));
  const made = fc.sample(fc.tuple(names, instants, instants), { numRuns: 40, seed: 7 });
  agents.insert(buildAgent({ id: 'agent_all' }));
  for (const [index, [name, createdAt, updatedAt]] of made.entries()) {
    agents.insert(buildAgent({ id: `agent_${index}`, name, createdAt, updatedAt }));
  }
  for (const [index, durationSeconds] of [1, 2, 3, 9, 15, 57, 63, 600, 12_345, 86_400].entries()) {
    for (const agentId of ['agent_all', `agent_${index}`]) {
      const startedAt = new Date(NOW.getTime() - durationSeconds);
      const of = { id: `call_${agentId}_${index}`, agentId, startedAt, durationSeconds };
      calls.insert(buildCall({ ...of, createdAt: startedAt, status: 'completed' }), []);
    }
  }

  for (const page of [
    { limit: 100, offset: 0 },
    { limit: 7, offset: 20 },
    { limit: 41, offset: 0 },
    { limit: 21, offset: 20 },
    { limit: 20, offset: 20 },
    { limit: 5, offset: 41 },
    { limit: 5, offset: 60 },
    { limit: 5, offset: 0, status: 'active' as const },
    { limit: 5, offset: 0, status: 'paused' as const },
  ]) {
    const { items, total } = agents.listText(SCOPE, page, NOW);
    const listed = agents.list(SCOPE, page, NOW);

    expect(`[${items}]`).toBe(JSON.stringify(listed.agents.map(itemOf)));
    expect([total, listed.total]).toEqual(page.status === 'paused' ? [0, 0] : [41, 41]);
  }
});

test('AgentStore finds whose a number is as quickly among 3,000 agents as among 20, where none had one when SQLite counted', async () => {
  const first = await openTestStore();
  const insertUpTo = (store: typeof first.agents, from: number, to: number) => {
    for (let index = from; index < to; index++) {
      store.insert(buildAgent({ id: `agent_${index}`, phoneNumber: null }));
    }
  };
  insertUpTo(first.agents, 0, 20);
  first.close();
  // Counts rows as it opens the database.
  const store = await openStore({ file: first.file, clock: first.clock, log: silentLogger });
  onTestFinished(() => store.close());
  const costMs = () => {
    const startedAtMs = cpuMs();
    for (let call = 0; call < 500; call++) store.agents.findByPhoneNumber('+390612345678');
    return cpuMs() - startedAtMs;
  };
  costMs();
  const few = Math.min(costMs(), costMs());

  insertUpTo(store.agents, 20, 3000);

  const many = Math.min(costMs(), costMs());
  expect(many).toBeLessThan(5 * few + 5);
});
