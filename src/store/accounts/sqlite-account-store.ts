/** Accounts in SQLite, with their signing secrets and the hashes of their API keys. */

import { sql } from 'kysely';
import {
  type Account,
  type Environment,
  PREVIOUS_SECRET_KEPT_MS,
  type SigningSecrets,
} from '../../domain/account/account.ts';
import type { AccountStore, Founding } from '../../domain/account/account-rules.ts';
import { API_KEYS_MAX, type ApiKey, type ApiKeyStore } from '../../domain/account/api-key.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import type { Page } from '../../domain/ids.ts';
import { conflict } from '../../domain/service-error.ts';
import { allOf, countOf, firstOf, inScope, pageOf, type Queries, SqliteStore } from '../queries.ts';
import { readerOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { type AccountRow, type ApiKeyRow, build, type SigningSecretRow } from '../sqlite/schema.ts';

/** Keeps accounts in SQLite; their signing secrets are one row an environment. */
export class SqliteAccountStore extends SqliteStore implements AccountStore {
  async found({ account, signingSecrets, apiKeys }: Founding): Promise<void> {
    const row = accountRowOf(account);
    const { id: account_id, created_at } = row;
    const none = { prepared_secret: null, previous_secret: null, rotated_at: null };
    await this.database.transaction(async (transaction) => {
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
    return firstOf(this.database, query, accountOf);
  }

  count(): Promise<number> {
    return countOf(this.database, build.selectFrom('accounts'));
  }

  async list(): Promise<readonly Account[]> {
    const query = build.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('id');
    return allOf(this.database, query, accountOf);
  }

  async update(account: Account): Promise<void> {
    const row = accountRowOf(account);
    await this.database.run(build.updateTable('accounts').set(row).where('id', '=', account.id));
  }

  async signingSecrets(
    accountId: string,
    environment: Environment,
    now: Date,
  ): Promise<SigningSecrets | undefined> {
    const query = build
      .selectFrom('signing_secrets')
      .selectAll()
      .where(inScope({ accountId, environment }));
    const row = await this.database.get(query);
    return row === undefined ? undefined : secretsOf(row, now);
  }

  async prepareSigningSecret(scope: Scope, secret: string, now: Date): Promise<SigningSecrets> {
    return this.#changed(scope, now, async (transaction) => {
      const prepare = secretsUpdate(scope)
        .set({ prepared_secret: secret })
        .where('prepared_secret', 'is', null);
      if ((await transaction.run(prepare)) > 0) return;
      const why = 'one is prepared already; activate it, or drop it';
      throw conflict(`Cannot prepare a signing secret: ${why}`);
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
      throw conflict('Cannot activate a signing secret: none is prepared');
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
    return this.database.transaction(async (transaction) => {
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

/** Keeps API keys in SQLite. */
export class SqliteApiKeyStore extends SqliteStore implements ApiKeyStore {
  async insert(apiKey: ApiKey, hash: string): Promise<void> {
    const { accountId, environment } = apiKey;
    const valid = keysOf(accountId, [environment]).where('revoked_at', 'is', null);
    await this.database.transaction(async (transaction) => {
      if ((await countOf(transaction, valid)) >= API_KEYS_MAX) {
        throw conflict(
          `Cannot make the key: the environment has ${API_KEYS_MAX} that are not revoked`,
        );
      }
      await transaction.run(build.insertInto('api_keys').values(keyRowOf(apiKey, hash)));
    });
  }

  async find(accountId: string, apiKeyId: string): Promise<ApiKey | undefined> {
    const query = build.selectFrom('api_keys').selectAll().where('account_id', '=', accountId);
    return firstOf(this.database, query.where('id', '=', apiKeyId), keyOf);
  }

  page(accountId: string, range: Parameters<ApiKeyStore['page']>[1]): Promise<Page<ApiKey>> {
    const every = keysOf(accountId, range.environments);
    return pageOf(this.database, { every, sorted: newestFirst(every), range }, keyOf);
  }

  async findByHash(hash: string): Promise<ApiKey | undefined> {
    const query = build.selectFrom('api_keys').selectAll().where('hash', '=', hash);
    return firstOf(this.database, query, keyOf);
  }

  async list({ accountId, environment }: Scope): Promise<readonly ApiKey[]> {
    return allOf(this.database, newestFirst(keysOf(accountId, [environment])), keyOf);
  }

  async touch(apiKeyId: string, usedAt: Date): Promise<void> {
    const touched = build.updateTable('api_keys').set({ last_used_at: usedAt.getTime() });
    await this.database.run(touched.where('id', '=', apiKeyId));
  }

  async revoke(scope: Scope, apiKeyId: string, revokedAt: Date): Promise<void> {
    await this.database.run(
      build
        .updateTable('api_keys')
        .set({ revoked_at: revokedAt.getTime() })
        .where('id', '=', apiKeyId)
        .where(inScope(scope))
        .where('revoked_at', 'is', null),
    );
  }
}

function keysOf(accountId: string, environments: readonly Environment[]) {
  return build
    .selectFrom('api_keys')
    .where('account_id', '=', accountId)
    .where('environment', 'in', environments);
}

function newestFirst(keys: ReturnType<typeof keysOf>) {
  return keys.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
}

/** The row of a key and its hash. */
function keyRowOf(apiKey: ApiKey, hash: string): ApiKeyRow {
  return { ...rowOf(apiKey), hash };
}

const keyOf = readerOf<ApiKey>({ json: ['scopes'], without: ['hash'] });
