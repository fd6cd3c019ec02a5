/** Accounts and their signing secrets in SQLite. */
import { sql } from 'kysely';
import {
  type Account,
  type Environment,
  type Plan,
  PREVIOUS_SECRET_KEPT_MS,
  type SigningSecrets,
} from '../domain/account.ts';
import type { AccountStore, Founding } from '../domain/account-store.ts';
import type { Scope } from '../domain/agent.ts';
import type { Database } from './database.ts';
import { type AccountRow, build, type SigningSecretRow } from './schema.ts';
import { keyRowOf, prepareKeyInsert } from './sqlite-api-key-store.ts';
import { type Take, takeAll } from './statement.ts';

function prepareAccounts(database: Database) {
  const columns = [
    'id',
    'name',
    'plan',
    'minutes_included',
    'transfer_targets',
    'allowed_countries',
    'created_at',
  ] as const;
  return {
    insert: database.prepare((take: Take<AccountRow>) =>
      build.insertInto('accounts').values(takeAll(take, columns)),
    ),
    insertKey: prepareKeyInsert(database),
    find: database.prepare((take: Take<{ id: string }>) =>
      build.selectFrom('accounts').select(columns).where('id', '=', take('id')),
    ),
    list: database.prepare(() =>
      build.selectFrom('accounts').select(columns).orderBy('created_at').orderBy('id'),
    ),
    update: database.prepare((take: Take<AccountRow>) =>
      build.updateTable('accounts').set(takeAll(take, columns)).where('id', '=', take('id')),
    ),
    count: database.prepare(() =>
      build.selectFrom('accounts').select((expression) => expression.fn.countAll<number>().as('n')),
    ),
  };
}

function prepareSecrets(database: Database) {
  const secretColumns = [
    'account_id',
    'environment',
    'secret',
    'created_at',
    'previous_secret',
    'rotated_at',
  ] as const;
  return {
    insert: database.prepare((take: Take<SigningSecretRow>) =>
      build.insertInto('signing_secrets').values(takeAll(take, secretColumns)),
    ),
    rotate: database.prepare(
      (take: Take<Scope & { readonly secret: string; readonly rotated_at: number }>) =>
        build
          .updateTable('signing_secrets')
          .set({
            previous_secret: sql<string>`secret`,
            secret: take('secret'),
            rotated_at: take('rotated_at'),
          })
          .where('account_id', '=', take('accountId'))
          .where('environment', '=', take('environment')),
    ),
    find: database.prepare((take: Take<Scope>) =>
      build
        .selectFrom('signing_secrets')
        .select(['secret', 'previous_secret', 'rotated_at'])
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
  };
}

/** Keeps accounts in SQLite. */
export class SqliteAccountStore implements AccountStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareAccounts>;
  readonly #secrets: ReturnType<typeof prepareSecrets>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareAccounts(database);
    this.#secrets = prepareSecrets(database);
  }

  found({ account, signingSecrets, apiKeys }: Founding): void {
    const row = accountRowOf(account);
    const { id: account_id, created_at } = row;
    this.#database.write(() => {
      this.#statements.insert.run(row);
      for (const [environment, secret] of Object.entries(signingSecrets)) {
        const others = { next_secret: null, previous_secret: null, rotated_at: null };
        const fresh = { secret, created_at, ...others };
        this.#secrets.insert.run({ account_id, environment, ...fresh });
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

  list(): readonly Account[] {
    return this.#database.read(() => this.#statements.list.all({})).map(accountOf);
  }

  update(account: Account): void {
    this.#database.write(() => this.#statements.update.run(accountRowOf(account)));
  }

  signingSecrets(
    accountId: string,
    environment: Environment,
    now: Date,
  ): SigningSecrets | undefined {
    const row = this.#database.read(() => this.#secrets.find.get({ accountId, environment }));
    return row === undefined ? undefined : secretsOf(row, now);
  }

  rotateSigningSecret(
    accountId: string,
    environment: Environment,
    secret: string,
    now: Date,
  ): SigningSecrets {
    const values = { accountId, environment, secret, rotated_at: now.getTime() };
    return this.#database.write(() => {
      this.#secrets.rotate.run(values);
      const row = this.#secrets.find.get({ accountId, environment });
      if (row === undefined) {
        throw new Error(`Cannot rotate the signing secret of "${accountId}": there is none`);
      }
      return secretsOf(row, now);
    });
  }
}

function secretsOf(
  row: Pick<SigningSecretRow, 'secret' | 'previous_secret' | 'rotated_at'>,
  now: Date,
): SigningSecrets {
  const until = row.rotated_at === null ? null : row.rotated_at + PREVIOUS_SECRET_KEPT_MS;
  const isKept = row.previous_secret !== null && until !== null && until > now.getTime();
  return {
    current: row.secret,
    previous: isKept ? row.previous_secret : null,
    previousUntil: isKept ? new Date(until) : null,
  };
}

function accountRowOf(account: Account): AccountRow {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    minutes_included: account.minutesIncluded,
    transfer_targets: JSON.stringify(account.transferTargets),
    allowed_countries:
      account.allowedCountries === null ? null : JSON.stringify(account.allowedCountries),
    created_at: account.createdAt.getTime(),
  };
}

function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as Plan,
    minutesIncluded: row.minutes_included,
    transferTargets: JSON.parse(row.transfer_targets) as Account['transferTargets'],
    allowedCountries:
      row.allowed_countries === null ? null : (JSON.parse(row.allowed_countries) as string[]),
    createdAt: new Date(row.created_at),
  };
}
