/** API keys in SQLite: their hashes, and what is shown of them. */
import { sql } from 'kysely';
import type { Environment } from '../../domain/account/account.ts';
import {
  API_KEYS_MAX,
  type ApiKey,
  type ApiKeyPage,
  type ApiKeyStore,
  type ApiScope,
} from '../../domain/account/api-key.ts';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import { dateOf } from '../sqlite/instant.ts';
import { type ApiKeyRow, build } from '../sqlite/schema.ts';
import { type Statement, type Take, takeAll } from '../sqlite/statement.ts';

const KEY_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'name',
  'hash',
  'prefix',
  'last_four',
  'scopes',
  'created_at',
  'last_used_at',
  'revoked_at',
] as const satisfies readonly (keyof ApiKeyRow)[];

/** The insertion of a key's row, also for the store that founds accounts. */
export function prepareKeyInsert(database: Database): Statement<ApiKeyRow, unknown> {
  return database.prepare((take: Take<ApiKeyRow>) =>
    build.insertInto('api_keys').values(takeAll(take, KEY_COLUMNS)),
  );
}

interface Page {
  readonly accountId: string;
  readonly first: Environment;
  readonly last: Environment;
  readonly limit: number;
  readonly offset: number;
}

function keysOf(take: Take<Page>) {
  return build
    .selectFrom('api_keys')
    .where('account_id', '=', take('accountId'))
    .where('environment', 'in', [take('first'), take('last')]);
}

function preparePages(database: Database) {
  return {
    page: database.prepare((take: Take<Page>) =>
      keysOf(take)
        .select(KEY_COLUMNS)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(take('limit'))
        .offset(take('offset')),
    ),
    total: database.prepare((take: Take<Page>) =>
      keysOf(take).select((expression) => expression.fn.countAll<number>().as('n')),
    ),
  };
}

function prepareKeys(database: Database) {
  return {
    insert: prepareKeyInsert(database),
    countValid: database.prepare((take: Take<Scope>) =>
      build
        .selectFrom('api_keys')
        .select(sql<number>`count(*)`.as('n'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('revoked_at', 'is', null),
    ),
    find: database.prepare((take: Take<{ id: string; accountId: string }>) =>
      build
        .selectFrom('api_keys')
        .select(KEY_COLUMNS)
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId')),
    ),
    byHash: database.prepare((take: Take<{ hash: string }>) =>
      build.selectFrom('api_keys').select(KEY_COLUMNS).where('hash', '=', take('hash')),
    ),
    list: database.prepare((take: Take<Scope>) =>
      build
        .selectFrom('api_keys')
        .select(KEY_COLUMNS)
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc'),
    ),
    touch: database.prepare((take: Take<{ id: string; usedAt: number }>) =>
      build
        .updateTable('api_keys')
        .set({ last_used_at: take('usedAt') })
        .where('id', '=', take('id')),
    ),
    revoke: database.prepare((take: Take<Scope & { id: string; revokedAt: number }>) =>
      build
        .updateTable('api_keys')
        .set({ revoked_at: take('revokedAt') })
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment'))
        .where('revoked_at', 'is', null),
    ),
  };
}

/** Keeps API keys in SQLite. */
export class SqliteApiKeyStore implements ApiKeyStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareKeys>;
  readonly #pages: ReturnType<typeof preparePages>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareKeys(database);
    this.#pages = preparePages(database);
  }

  insert(apiKey: ApiKey, hash: string): void {
    const row = keyRowOf(apiKey, hash);
    this.#database.write(() => {
      const { accountId, environment } = apiKey;
      const valid = this.#statements.countValid.get({ accountId, environment })?.n ?? 0;
      if (valid >= API_KEYS_MAX) {
        throw new ServiceError(
          'CONFLICT',
          `Cannot make the key: the environment has ${API_KEYS_MAX} that are not revoked`,
        );
      }
      this.#statements.insert.run(row);
    });
  }

  find(accountId: string, apiKeyId: string): ApiKey | undefined {
    const values = { accountId, id: apiKeyId };
    const row = this.#database.read(() => this.#statements.find.get(values));
    return row === undefined ? undefined : keyOf(row);
  }

  page(accountId: string, query: Parameters<ApiKeyStore['page']>[1]): ApiKeyPage {
    const { environments, limit, offset } = query;
    const [first = 'live', last = first] = environments;
    const values = { accountId, first, last, limit, offset };
    return this.#database.read(() => ({
      apiKeys: this.#pages.page.all(values).map(keyOf),
      total: this.#pages.total.get(values)?.n ?? 0,
    }));
  }

  findByHash(hash: string): ApiKey | undefined {
    const row = this.#database.read(() => this.#statements.byHash.get({ hash }));
    return row === undefined ? undefined : keyOf(row);
  }

  list(scope: Scope): readonly ApiKey[] {
    return this.#database.read(() => this.#statements.list.all(scope)).map(keyOf);
  }

  touch(apiKeyId: string, usedAt: Date): void {
    const values = { id: apiKeyId, usedAt: usedAt.getTime() };
    this.#database.write(() => this.#statements.touch.run(values));
  }

  revoke(scope: Scope, apiKeyId: string, revokedAt: Date): void {
    const values = { ...scope, id: apiKeyId, revokedAt: revokedAt.getTime() };
    this.#database.write(() => this.#statements.revoke.run(values));
  }
}

/** The row of a key and its hash. */
export function keyRowOf(apiKey: ApiKey, hash: string): ApiKeyRow {
  return {
    id: apiKey.id,
    account_id: apiKey.accountId,
    environment: apiKey.environment,
    name: apiKey.name,
    hash,
    prefix: apiKey.prefix,
    last_four: apiKey.lastFour,
    scopes: JSON.stringify(apiKey.scopes),
    created_at: apiKey.createdAt.getTime(),
    last_used_at: apiKey.lastUsedAt?.getTime() ?? null,
    revoked_at: apiKey.revokedAt?.getTime() ?? null,
  };
}

function keyOf(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.last_four,
    scopes: JSON.parse(row.scopes) as ApiScope[],
    createdAt: new Date(row.created_at),
    lastUsedAt: dateOf(row.last_used_at),
    revokedAt: dateOf(row.revoked_at),
  };
}
