/** Idempotency keys in SQLite: one row a key, claimed by the first request and completed with its answer. */
import type { ExpressionBuilder } from 'kysely';
import {
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyScope,
  type IdempotencyStore,
  type IdempotentRequest,
  type KeptAnswer,
} from '../../domain/account/rate-limit.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Queries } from '../queries.ts';
import { build, type Tables } from '../sqlite/schema.ts';

/** The status column of a request that still runs; no HTTP status. */
const RUNNING = 0;

/** A claim that is older was left by a request whose release failed. */
const RUNNING_MS_MAX = 600_000;

/** Keeps answers in SQLite. */
export class SqliteIdempotencyStore implements IdempotencyStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async claim(request: IdempotentRequest): Promise<KeptAnswer | undefined> {
    const { fingerprint, now } = request;
    const nowMs = now.getTime();
    return this.#database.transaction(async (transaction) => {
      const row = await transaction.get(
        build
          .selectFrom('idempotency_keys')
          .selectAll()
          .where(isOf(request))
          .where('created_at', '>', nowMs - IDEMPOTENCY_KEPT_MS),
      );
      const isLeft = row?.status === RUNNING && row.created_at <= nowMs - RUNNING_MS_MAX;
      if (row !== undefined && !isLeft) {
        if (row.fingerprint !== fingerprint) throw anotherBody();
        if (row.status === RUNNING) throw stillRunning();
        return { status: row.status, body: row.body };
      }
      const claim = { fingerprint, status: RUNNING, body: null, created_at: nowMs };
      await transaction.run(
        build.replaceInto('idempotency_keys').values({ ...columnsOf(request), ...claim }),
      );
      return undefined;
    });
  }

  async keep(request: IdempotentRequest, answer: KeptAnswer): Promise<void> {
    const kept = build.updateTable('idempotency_keys').set({ ...answer });
    await this.#database.run(kept.where(isOf(request)));
  }

  async release(request: IdempotencyScope): Promise<void> {
    const claim = build.deleteFrom('idempotency_keys').where(isOf(request));
    await this.#database.run(claim.where('status', '=', RUNNING));
  }

  async releaseAll(): Promise<void> {
    await this.#database.run(build.deleteFrom('idempotency_keys').where('status', '=', RUNNING));
  }
}

function columnsOf({ accountId, environment, method, path, key }: IdempotencyScope) {
  return { account_id: accountId, environment, method, path, key };
}

function isOf(request: IdempotencyScope) {
  return ({ and }: ExpressionBuilder<Tables, 'idempotency_keys'>) => and(columnsOf(request));
}

function anotherBody(): ServiceError {
  return new ServiceError(
    'UNPROCESSABLE',
    'Cannot repeat the request: its X-Idempotency-Key was used with another body',
  );
}

function stillRunning(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    'Cannot repeat the request yet: the first one with its X-Idempotency-Key is still running',
  );
}
