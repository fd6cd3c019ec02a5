/** Accounts and their signing secrets in SQLite. */
import type { Account, Environment, Plan } from '../domain/account.ts';
import type { AccountStore, Founding } from '../domain/account-store.ts';
import type { Scope } from '../domain/agent.ts';
import type { Database } from './database.ts';
import { type AccountRow, build, type SigningSecretRow } from './schema.ts';
import { keyRowOf, prepareKeyInsert } from './sqlite-api-key-store.ts';
import { type Take, takeAll } from './statement.ts';

function prepareAccounts(database: Database) {
  const columns = ['id', 'name', 'plan', 'minutes_included', 'created_at'] as const;
  const secretColumns = ['account_id', 'environment', 'secret', 'created_at'] as const;
  return {
    insert: database.prepare((take: Take<AccountRow>) =>
      build.insertInto('accounts').values(takeAll(take, columns)),
    ),
    insertKey: prepareKeyInsert(database),
    insertSecret: database.prepare((take: Take<SigningSecretRow>) =>
      build.insertInto('signing_secrets').values(takeAll(take, secretColumns)),
    ),
    find: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('accounts').select(columns).where('id', '=', take('id')),
    ),
    count: database.prepare(() =>
      build.selectFrom('accounts').select((expression) => expression.fn.countAll<number>().as('n')),
    ),
    secret: database.prepare((take: Take<Scope>) =>
      build
        .selectFrom('signing_secrets')
        .select('secret')
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
  };
}

/** Keeps accounts in SQLite. */
export class SqliteAccountStore implements AccountStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareAccounts>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareAccounts(database);
  }

  found({ account, signingSecrets, apiKeys }: Founding): void {
    const created_at = account.createdAt.getTime();
    const { id, name, plan, minutesIncluded: minutes_included } = account;
    this.#database.write(() => {
      this.#statements.insert.run({ id, name, plan, minutes_included, created_at });
      for (const [environment, secret] of Object.entries(signingSecrets)) {
        this.#statements.insertSecret.run({ account_id: id, environment, secret, created_at });
      }
      for (const { apiKey, hash } of apiKeys)
        this.#statements.insertKey.run(keyRowOf(apiKey, hash));
    });
  }

  find(accountId: string): Account | undefined {
    const row = this.#database.read(() => this.#statements.find.get({ id: accountId }));
    return row === undefined ? undefined : accountOf(row);
  }

  count(): number {
    return this.#database.read(() => this.#statements.count.get({}))?.n ?? 0;
  }

  signingSecret(accountId: string, environment: Environment): string | undefined {
    return this.#database.read(() => this.#statements.secret.get({ accountId, environment }))
      ?.secret;
  }
}

function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as Plan,
    minutesIncluded: row.minutes_included,
    createdAt: new Date(row.created_at),
  };
}
