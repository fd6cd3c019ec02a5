/** API keys in SQLite: their hashes, and the fields that customers see. */
import type { Environment } from '../../domain/account/account.ts';
import {
  API_KEYS_MAX,
  type ApiKey,
  type ApiKeyPage,
  type ApiKeyStore,
} from '../../domain/account/api-key.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { countOf, inScope, type Queries } from '../queries.ts';
import { recordOf, rowOf } from '../sqlite/rows.ts';
import { type ApiKeyRow, build } from '../sqlite/schema.ts';

/** Keeps API keys in SQLite. */
export class SqliteApiKeyStore implements ApiKeyStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async insert(apiKey: ApiKey, hash: string): Promise<void> {
    const { accountId, environment } = apiKey;
    const valid = keysOf(accountId, [environment]).where('revoked_at', 'is', null);
    await this.#database.transaction(async (transaction) => {
      if ((await countOf(transaction, valid)) >= API_KEYS_MAX) {
        throw new ServiceError(
          'CONFLICT',
          `Cannot make the key: the environment has ${API_KEYS_MAX} that are not revoked`,
        );
      }
      await transaction.run(build.insertInto('api_keys').values(keyRowOf(apiKey, hash)));
    });
  }

  async find(accountId: string, apiKeyId: string): Promise<ApiKey | undefined> {
    const query = build.selectFrom('api_keys').selectAll().where('account_id', '=', accountId);
    const row = await this.#database.get(query.where('id', '=', apiKeyId));
    return row === undefined ? undefined : keyOf(row);
  }

  async page(accountId: string, query: Parameters<ApiKeyStore['page']>[1]): Promise<ApiKeyPage> {
    const keys = keysOf(accountId, query.environments);
    const page = newestFirst(keys).limit(query.limit).offset(query.offset);
    return {
      apiKeys: (await this.#database.all(page)).map(keyOf),
      total: await countOf(this.#database, keys),
    };
  }

  async findByHash(hash: string): Promise<ApiKey | undefined> {
    const query = build.selectFrom('api_keys').selectAll().where('hash', '=', hash);
    const row = await this.#database.get(query);
    return row === undefined ? undefined : keyOf(row);
  }

  async list({ accountId, environment }: Scope): Promise<readonly ApiKey[]> {
    return (await this.#database.all(newestFirst(keysOf(accountId, [environment])))).map(keyOf);
  }

  async touch(apiKeyId: string, usedAt: Date): Promise<void> {
    const touched = build.updateTable('api_keys').set({ last_used_at: usedAt.getTime() });
    await this.#database.run(touched.where('id', '=', apiKeyId));
  }

  async revoke(scope: Scope, apiKeyId: string, revokedAt: Date): Promise<void> {
    await this.#database.run(
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
export function keyRowOf(apiKey: ApiKey, hash: string): ApiKeyRow {
  return { ...rowOf(apiKey), hash };
}

function keyOf(row: ApiKeyRow): ApiKey {
  return recordOf<ApiKey>(row, { json: ['scopes'], without: ['hash'] });
}
