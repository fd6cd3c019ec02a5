import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { buildAgent } from '../support/store/build-agent.ts';
import { openTestStore } from '../support/store/test-store.ts';

const NUMBER = '+390612345678';

describe('The indexes of agents’ numbers', () => {
  test.each(['live', 'test'] as const)('let no two %s agents have one', async (environment) => {
    const { agents, file } = await openTestStore();
    await agents.insert(buildAgent({ environment, phoneNumber: NUMBER }));
    await agents.insert(buildAgent({ environment, id: 'agent_2' }));
    await agents.insert(buildAgent({ environment, id: 'agent_3' }));
    const sqlite = new Sqlite(file);

    const give = () =>
      sqlite.prepare(`update agents set phone_number = ? where id = 'agent_2'`).run(NUMBER);

    expect(give).toThrow('UNIQUE');
    sqlite.close();
  });

  test.each(['live', 'test'] as const)('leave out %s agents without one', async (environment) => {
    const { agents, file } = await openTestStore();
    await agents.insert(buildAgent({ environment }));
    const sqlite = new Sqlite(file, { readonly: true });
    const asked = `select count(*) from agents indexed by agents_by_${environment}_number
      where environment = '${environment}'`;

    // SQLite refuses an index that does not hold every row that is asked for.
    expect(() => sqlite.prepare(asked)).toThrow('no query solution');
    sqlite.close();
  });
});
