/** Accounts and their signing secrets in SQLite. */

import { sql } from 'kysely';
import {
  type Account,
  type Environment,
  PREVIOUS_SECRET_KEPT_MS,
  type SigningSecrets,
} from '../../domain/account/account.ts';
import type { AccountStore, Founding } from '../../domain/account/account-store.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { countOf, inScope, type Queries } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { type AccountRow, build, type SigningSecretRow } from '../sqlite/schema.ts';
import { keyRowOf } from './sqlite-api-key-store.ts';

/** Keeps accounts in SQLite; their signing secrets are one row an environment. */
export class SqliteAccountStore implements AccountStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async found({ account, signingSecrets, apiKeys }: Founding): Promise<void> {
    const row = accountRowOf(account);
    const { id: account_id, created_at } = row;
    const none = { prepared_secret: null, previous_secret: null, rotated_at: null };
    await this.#database.transaction(async (transaction) => {
      await transaction.run(build.insertInto('accounts').values(row));
      for (const [environment, secret] of Object.entries(signingSecrets)) {
        const secrets = { account_id, environment, secret, created_at, ...none };
        await transaction.run(build.insertInto('signing_secrets').values(secrets));
      }
      for (const { apiKey, hash } of apiKeys) {
        await transaction.run(build.insertInto('api_keys').values(keyRowOf(apiKey, hash)));
      }
    });
  }

  async find(accountId: string): Promise<Account | undefined> {
    const query = build.selectFrom('accounts').selectAll().where('id', '=', accountId);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : accountOf(row);
  }

  count(): Promise<number> {
    return countOf(this.#database, build.selectFrom('accounts'));
  }

  async list(): Promise<readonly Account[]> {
    const query = build.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('id');
    return (await this.#database.all(query)).map(accountOf);
  }

  async update(account: Account): Promise<void> {
    const row = accountRowOf(account);
    await this.#database.run(build.updateTable('accounts').set(row).where('id', '=', account.id));
  }

  async signingSecrets(
    accountId: string,
    environment: Environment,
    now: Date,
  ): Promise<SigningSecrets | undefined> {
    const query = build
      .selectFrom('signing_secrets')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('environment', '=', environment);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : secretsOf(row, now);
  }

  async prepareSigningSecret(scope: Scope, secret: string, now: Date): Promise<SigningSecrets> {
    return this.#changed(scope, now, async (transaction) => {
      const prepare = secretsUpdate(scope)
        .set({ prepared_secret: secret })
        .where('prepared_secret', 'is', null);
      if ((await transaction.run(prepare)) > 0) return;
      const why = 'one is prepared already; activate it, or drop it';
      throw new ServiceError('CONFLICT', `Cannot prepare a signing secret: ${why}`);
    });
  }

  async activateSigningSecret(scope: Scope, now: Date): Promise<SigningSecrets> {
    return this.#changed(scope, now, async (transaction) => {
      const activate = secretsUpdate(scope)
        .set({
          secret: sql<string>`prepared_secret`,
          prepared_secret: null,
          previous_secret: sql<string>`secret`,
          rotated_at: now.getTime(),
        })
        .where('prepared_secret', 'is not', null);
      if ((await transaction.run(activate)) > 0) return;
      throw new ServiceError('CONFLICT', 'Cannot activate a signing secret: none is prepared');
    });
  }

  async dropSigningSecret(
    scope: Scope,
    which: 'prepared' | 'previous',
    now: Date,
  ): Promise<SigningSecrets> {
    const dropped =
      which === 'prepared'
        ? { prepared_secret: null }
        : { previous_secret: null, rotated_at: null };
    return this.#changed(scope, now, (transaction) =>
      transaction.run(secretsUpdate(scope).set(dropped)),
    );
  }

  async #changed(
    scope: Scope,
    now: Date,
    change: (transaction: Queries) => Promise<unknown>,
  ): Promise<SigningSecrets> {
    return this.#database.transaction(async (transaction) => {
      await change(transaction);
      const secrets = await new SqliteAccountStore(transaction).signingSecrets(
        scope.accountId,
        scope.environment,
        now,
      );
      if (secrets === undefined) {
        throw new Error(`Cannot change the signing secrets of "${scope.accountId}": none found`);
      }
      return secrets;
    });
  }
}

function secretsUpdate(scope: Scope) {
  return build.updateTable('signing_secrets').where(inScope(scope));
}

function secretsOf(row: SigningSecretRow, now: Date): SigningSecrets {
  const until = row.rotated_at === null ? null : row.rotated_at + PREVIOUS_SECRET_KEPT_MS;
  const isKept = row.previous_secret !== null && until !== null && until > now.getTime();
  return {
    current: row.secret,
    prepared: row.prepared_secret,
    previous: isKept ? row.previous_secret : null,
    previousUntil: isKept ? new Date(until) : null,
  };
}

function accountRowOf({ retention, ...account }: Account): AccountRow {
  return rowOf({ ...account, ...retention });
}

function accountOf(row: AccountRow): Account {
  const { recordingsDays, transcriptsDays, callsDays, ...account } = recordOf<
    Omit<Account, 'retention'> & Account['retention']
  >(row, { json: ['transferTargets', 'allowedCountries', 'callingHours'] });
  return { ...account, retention: { recordingsDays, transcriptsDays, callsDays } };
}
