/** Remembered answers in SQLite: written in the transaction of what they answer for. */

import {
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyScope,
  type IdempotencyStore,
  type KeptAnswer,
} from '../../domain/account/rate-limit.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type IdempotencyRow } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';

const COLUMNS = [
  'account_id',
  'environment',
  'method',
  'path',
  'key',
  'fingerprint',
  'status',
  'body',
  'created_at',
] as const satisfies readonly (keyof IdempotencyRow)[];

const NAME = ['account_id', 'environment', 'method', 'path', 'key'] as const;

function prepareKeys(database: Database) {
  return {
    find: database.prepare((take: Take<Pick<IdempotencyRow, (typeof NAME)[number]>>) =>
      NAME.reduce(
        (query, column) => query.where(column, '=', take(column)),
        build.selectFrom('idempotency_keys').select(COLUMNS),
      ),
    ),
    keep: database.prepare((take: Take<IdempotencyRow>) =>
      build.insertInto('idempotency_keys').orReplace().values(takeAll(take, COLUMNS)),
    ),
  };
}

/** Keeps answers in SQLite. */
export class SqliteIdempotencyStore implements IdempotencyStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareKeys>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareKeys(database);
  }

  has(request: IdempotencyScope & { readonly now: Date }): boolean {
    const { accountId: account_id, environment, method, path, key } = request;
    const name = { account_id, environment, method, path, key };
    const kept = this.#database.read(() => this.#statements.find.get(name));
    return kept !== undefined && isFresh(kept, request.now.getTime());
  }

  once(
    request: IdempotencyScope & { readonly fingerprint: string; readonly now: Date },
    work: () => KeptAnswer,
  ): { readonly answer: KeptAnswer; readonly isReplay: boolean } {
    const { accountId: account_id, environment, method, path, key, fingerprint } = request;
    const name = { account_id, environment, method, path, key };
    const nowMs = request.now.getTime();
    return this.#database.write(() => {
      const kept = this.#statements.find.get(name);
      if (kept !== undefined && isFresh(kept, nowMs)) {
        if (kept.fingerprint !== fingerprint) throw anotherBody();
        return { answer: { status: kept.status, body: kept.body }, isReplay: true };
      }
      const answer = work();
      this.#statements.keep.run({ ...name, fingerprint, ...answer, created_at: nowMs });
      return { answer, isReplay: false };
    });
  }
}

function isFresh(kept: Pick<IdempotencyRow, 'created_at'>, nowMs: number): boolean {
  return kept.created_at > nowMs - IDEMPOTENCY_KEPT_MS;
}

function anotherBody(): ServiceError {
  return new ServiceError(
    'UNPROCESSABLE',
    'Cannot repeat the request: its X-Idempotency-Key was used with another body',
  );
}
