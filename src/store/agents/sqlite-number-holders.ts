/** Which agent holds which telephone number, in SQLite, without reading what the agents say. */
import { sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import type { HeldNumber, NumberHolders } from '../../domain/dialing/phone-number.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';

/** More than an account has: each is a number that somebody pays for. */
const NUMBERS_MAX = 10_000;

interface HolderRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly phone_number: string | null;
}

const COLUMNS = ['id', 'account_id', 'name', 'phone_number'] as const;

function prepareReads(database: Database) {
  return {
    ofScope: database.prepare((take: Take<Scope & { limit: number }>) =>
      build
        .selectFrom('agents')
        .select(COLUMNS)
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('phone_number', 'is not', sql<null>`null`)
        .orderBy('phone_number')
        .limit(take('limit')),
    ),
    everyLive: database.prepare((take: Take<{ limit: number }>) =>
      build
        .selectFrom('agents')
        .select(COLUMNS)
        // The condition of the index, as SQLite wants to see it.
        .where(sql<boolean>`environment = 'live' and phone_number is not null`)
        .orderBy('phone_number')
        .limit(take('limit')),
    ),
    live: database.prepare((take: Take<{ number: string }>) =>
      build
        .selectFrom('agents')
        .select(COLUMNS)
        .where('phone_number', '=', take('number'))
        .where(sql<boolean>`environment = 'live'`),
    ),
  };
}

export class SqliteNumberHolders implements NumberHolders {
  readonly #database: Database;
  readonly #reads: ReturnType<typeof prepareReads>;

  constructor(database: Database) {
    this.#database = database;
    this.#reads = prepareReads(database);
  }

  ofScope(scope: Scope): readonly HeldNumber[] {
    const values = { ...scope, limit: NUMBERS_MAX };
    return this.#database.read(() => this.#reads.ofScope.all(values).map(heldOf));
  }

  everyLive(): readonly HeldNumber[] {
    return this.#database.read(() => this.#reads.everyLive.all({ limit: NUMBERS_MAX }).map(heldOf));
  }

  liveHolderOf(number: string): HeldNumber | undefined {
    const row = this.#database.read(() => this.#reads.live.get({ number }));
    return row === undefined ? undefined : heldOf(row);
  }
}

function heldOf({ id, account_id: accountId, name, phone_number: number }: HolderRow): HeldNumber {
  return { number: number ?? '', agentId: id, agentName: name, accountId };
}
