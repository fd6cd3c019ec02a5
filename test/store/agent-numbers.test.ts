import Sqlite from 'better-sqlite3';
import { type RawBuilder, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { prepareAgentReads } from '../../src/store/agents/sqlite-agent-store.ts';
import type { Database } from '../../src/store/sqlite/database.ts';
import { buildAgent } from '../support/build-agent.ts';
import { openTestStore } from '../support/test-store.ts';

const NUMBER = '+390612345678';

/** Gives the SQL of each statement in its place. */
const showing = {
  prepare: (build: (take: (name: string) => RawBuilder<unknown>) => { compile(): unknown }) =>
    build((name) => sql`+${name}`).compile(),
} as unknown as Database;

describe('The indexes of agents’ numbers', () => {
  test.each([
    ['byNumber', 'agents_by_live_number (phone_number=?)'],
    ['liveHolder', 'agents_by_live_number (phone_number=?)'],
    ['testHolder', 'agents_by_test_number (account_id=? AND phone_number=?)'],
  ] as const)('lead %s to a number', async (name, index) => {
    const { file } = await openTestStore();
    const sqlite = new Sqlite(file, { readonly: true });
    const statement = prepareAgentReads(showing)[name] as unknown as {
      readonly sql: string;
      readonly parameters: readonly unknown[];
    };

    const plan = sqlite.prepare(`explain query plan ${statement.sql}`).all(...statement.parameters);

    expect(plan).toMatchObject([{ detail: expect.stringContaining(`USING INDEX ${index}`) }]);
    sqlite.close();
  });

  test.each(['live', 'test'] as const)('let no two %s agents have one', async (environment) => {
    const { agents, file } = await openTestStore();
    agents.insert(buildAgent({ environment, phoneNumber: NUMBER }));
    agents.insert(buildAgent({ environment, id: 'agent_2' }));
    agents.insert(buildAgent({ environment, id: 'agent_3' }));
    const sqlite = new Sqlite(file);

    const give = () =>
      sqlite.prepare(`update agents set phone_number = ? where id = 'agent_2'`).run(NUMBER);

    expect(give).toThrow('UNIQUE');
    sqlite.close();
  });

  test.each(['live', 'test'] as const)('leave out %s agents without one', async (environment) => {
    const { agents, file } = await openTestStore();
    agents.insert(buildAgent({ environment }));
    const sqlite = new Sqlite(file, { readonly: true });
    const asked = `select count(*) from agents indexed by agents_by_${environment}_number
      where environment = '${environment}'`;

    // SQLite refuses an index that does not hold every row that is asked for.
    expect(() => sqlite.prepare(asked)).toThrow('no query solution');
    sqlite.close();
  });
});
