/** What the server keeps for itself in SQLite: request counts and its own secrets. */
import { sql } from 'kysely';
import type { RateStore, RateWindow } from '../domain/rate-limit.ts';
import type { SecretStore } from '../domain/secret-store.ts';
import type { Database } from './database.ts';
import { build, type RateCountRow, type SecretRow } from './schema.ts';
import { type Take, takeAll } from './statement.ts';

function prepareRates(database: Database) {
  return {
    count: database.prepare((take: Take<Omit<RateCountRow, 'requests'>>) =>
      build
        .insertInto('rate_counts')
        .values({ subject: take('subject'), window_start: take('window_start'), requests: 1 })
        .onConflict((conflict) =>
          conflict.column('subject').doUpdateSet({
            requests: sql<number>`case when rate_counts.window_start = excluded.window_start
              then rate_counts.requests + 1 else 1 end`,
            window_start: sql<number>`excluded.window_start`,
          }),
        )
        .returning('requests'),
    ),
    forget: database.prepare((take: Take<{ window_start: number }>) =>
      build.deleteFrom('rate_counts').where('window_start', '<', take('window_start')),
    ),
  };
}

/** Counts requests in SQLite, so that a restart forgives nothing. */
export class SqliteRateStore implements RateStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareRates>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareRates(database);
  }

  count(subject: string, window: RateWindow): number {
    const window_start = window.startsAt.getTime();
    return this.#database.write(() => {
      const requests = this.#statements.count.get({ subject, window_start })?.requests ?? 1;
      if (requests === 1) this.#statements.forget.run({ window_start });
      return requests;
    });
  }
}

function prepareSecrets(database: Database) {
  const columns = ['name', 'value'] as const;
  return {
    insert: database.prepare((take: Take<SecretRow>) =>
      build.insertInto('secrets').values(takeAll(take, columns)),
    ),
    find: database.prepare((take: Take<{ name: string }>) =>
      build.selectFrom('secrets').select(columns).where('name', '=', take('name')),
    ),
  };
}

/** Keeps the server's own secrets in SQLite. */
export class SqliteSecretStore implements SecretStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareSecrets>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareSecrets(database);
  }

  ensure(name: string, make: () => string): string {
    return this.#database.write(() => {
      const kept = this.#statements.find.get({ name });
      if (kept !== undefined) return kept.value;
      const value = make();
      this.#statements.insert.run({ name, value });
      return value;
    });
  }
}
