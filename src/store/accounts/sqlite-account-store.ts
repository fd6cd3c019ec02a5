/** Accounts and their signing secrets in SQLite. */
import type { Account, Environment, Plan, SigningSecrets } from '../../domain/account/account.ts';
import type { AccountStore, Founding } from '../../domain/account/account-store.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Database } from '../sqlite/database.ts';
import { type AccountRow, build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import { SqliteSigningSecrets } from '../webhooks/sqlite-signing-secrets.ts';
import { keyRowOf, prepareKeyInsert } from './sqlite-api-key-store.ts';

function prepareAccounts(database: Database) {
  const columns = [
    'id',
    'name',
    'plan',
    'minutes_included',
    'transfer_targets',
    'allowed_countries',
    'recordings_days',
    'transcripts_days',
    'calls_days',
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

/** Keeps accounts in SQLite. */
export class SqliteAccountStore implements AccountStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareAccounts>;
  readonly #secrets: SqliteSigningSecrets;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareAccounts(database);
    this.#secrets = new SqliteSigningSecrets(database);
  }

  found({ account, signingSecrets, apiKeys }: Founding): void {
    const row = accountRowOf(account);
    const { id: account_id, created_at } = row;
    this.#database.write(() => {
      this.#statements.insert.run(row);
      for (const [environment, secret] of Object.entries(signingSecrets)) {
        this.#secrets.insert({ account_id, environment, secret, created_at });
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
    return this.#secrets.find({ accountId, environment }, now);
  }

  prepareSigningSecret(scope: Scope, secret: string, now: Date): SigningSecrets {
    return this.#secrets.prepare(scope, secret, now);
  }

  activateSigningSecret(scope: Scope, now: Date): SigningSecrets {
    return this.#secrets.activate(scope, now);
  }

  dropSigningSecret(scope: Scope, which: 'prepared' | 'previous', now: Date): SigningSecrets {
    return this.#secrets.drop(scope, which, now);
  }
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
    recordings_days: account.retention.recordingsDays,
    transcripts_days: account.retention.transcriptsDays,
    calls_days: account.retention.callsDays,
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
    retention: {
      recordingsDays: row.recordings_days,
      transcriptsDays: row.transcripts_days,
      callsDays: row.calls_days,
    },
    createdAt: new Date(row.created_at),
  };
}
