/** Idempotency keys in SQLite: each with the answer of its first request, written in the transaction of the change. */
import {
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyScope,
  type IdempotencyStore,
  type KeptAnswer,
} from '../../domain/account/rate-limit.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Database } from '../sqlite/database.ts';
import { build, type IdempotencyRow } from '../sqlite/schema.ts';

/** Keeps answers in SQLite. */
export class SqliteIdempotencyStore implements IdempotencyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  has(request: IdempotencyScope & { readonly now: Date }): boolean {
    return this.#find(request) !== undefined;
  }

  once(
    request: IdempotencyScope & { readonly fingerprint: string; readonly now: Date },
    work: () => KeptAnswer,
  ): { readonly answer: KeptAnswer; readonly isReplay: boolean } {
    const { accountId: account_id, environment, method, path, key, fingerprint, now } = request;
    return this.#database.write(() => {
      const kept = this.#find(request);
      if (kept !== undefined) {
        if (kept.fingerprint !== fingerprint) throw anotherBody();
        return { answer: { status: kept.status, body: kept.body }, isReplay: true };
      }
      const answer = work();
      const name = { account_id, environment, method, path, key };
      const row = { ...name, fingerprint, ...answer, created_at: now.getTime() };
      this.#database.run(build.replaceInto('idempotency_keys').values(row));
      return { answer, isReplay: false };
    });
  }

  /** Undefined when the key is older than `IDEMPOTENCY_KEPT_MS`. */
  #find(request: IdempotencyScope & { readonly now: Date }): IdempotencyRow | undefined {
    return this.#database.get(
      build
        .selectFrom('idempotency_keys')
        .selectAll()
        .where('account_id', '=', request.accountId)
        .where('environment', '=', request.environment)
        .where('method', '=', request.method)
        .where('path', '=', request.path)
        .where('key', '=', request.key)
        .where('created_at', '>', request.now.getTime() - IDEMPOTENCY_KEPT_MS),
    );
  }
}

function anotherBody(): ServiceError {
  return new ServiceError(
    'UNPROCESSABLE',
    'Cannot repeat the request: its X-Idempotency-Key was used with another body',
  );
}
