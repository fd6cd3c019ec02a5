/** Webhook endpoints in SQLite. */
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { DeliveryStatus } from '../../domain/webhook/webhook-delivery.ts';
import {
  type EndpointHealth,
  WEBHOOK_ENDPOINTS_MAX,
  type WebhookEndpoint,
  type WebhookEndpointPage,
  type WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint.ts';
import type { Notifier } from '../../lib/clock.ts';
import { countOf, inScope, type Queries } from '../queries.ts';
import { type RowOf, recordOf, rowOf } from '../sqlite/rows.ts';
import { build } from '../sqlite/schema.ts';

/** Keeps webhook endpoints in SQLite. */
export class SqliteWebhookEndpointStore implements WebhookEndpointStore {
  readonly #database: Queries;
  readonly #notifier: Notifier;

  /** @param notifier Notifies after changes: deliveries that are pending for a disabled endpoint end at once. */
  constructor(database: Queries, notifier: Notifier) {
    this.#database = database;
    this.#notifier = notifier;
  }

  async insert(endpoint: WebhookEndpoint): Promise<void> {
    const fresh = { failures_in_row: 0, failing_since: null, deleted_at: null, last_attempt: null };
    const row = { ...rowOf(endpoint), ...fresh };
    await this.#database.transaction(async (transaction) => {
      if ((await countOf(transaction, endpointsOf(endpoint))) >= WEBHOOK_ENDPOINTS_MAX) {
        throw new ServiceError(
          'CONFLICT',
          `Cannot make the webhook endpoint: there are ${WEBHOOK_ENDPOINTS_MAX} already`,
        );
      }
      await transaction.run(build.insertInto('webhook_endpoints').values(row));
    });
  }

  async update(endpoint: WebhookEndpoint): Promise<void> {
    const row = rowOf(endpoint);
    await this.#database.transaction(async (transaction) => {
      const before = await new SqliteWebhookEndpointStore(transaction, this.#notifier).find(
        endpoint,
        endpoint.id,
      );
      if (before === undefined) return;
      const isRevived = before.status === 'disabled' && endpoint.status === 'active';
      const failures = isRevived ? { failures_in_row: 0, failing_since: null } : {};
      const update = build.updateTable('webhook_endpoints').set({ ...row, ...failures });
      await transaction.run(update.where('id', '=', endpoint.id));
    });
    this.#database.onCommit(() => this.#notifier.notify());
  }

  /** Its pending deliveries end, and retention deletes the rows. */
  async delete(scope: Scope, endpointId: string, now: Date): Promise<void> {
    const deleted = {
      status: 'disabled',
      disabled_reason: 'deleted',
      deleted_at: now.getTime(),
    } as const;
    await this.#database.run(
      build
        .updateTable('webhook_endpoints')
        .set(deleted)
        .where('id', '=', endpointId)
        .where(inScope(scope)),
    );
    this.#database.onCommit(() => this.#notifier.notify());
  }

  async find(scope: Scope, endpointId: string): Promise<WebhookEndpoint | undefined> {
    const row = await this.#database.get(
      endpointsOf(scope).selectAll().where('id', '=', endpointId),
    );
    return row === undefined ? undefined : endpointOf(row);
  }

  async list(
    scope: Scope,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<WebhookEndpointPage> {
    const newest = endpointsOf(scope)
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc');
    return {
      endpoints: (await this.#database.all(newest.limit(limit).offset(offset))).map(endpointOf),
      total: await countOf(this.#database, endpointsOf(scope)),
    };
  }

  async health(endpointId: string): Promise<EndpointHealth> {
    const counts = build
      .selectFrom('delivery_counts')
      .select(['status', 'deliveries'])
      .where('endpoint_id', '=', endpointId);
    const rows = await this.#database.all(counts);
    const countOfStatus = (status: DeliveryStatus) =>
      rows.find((row) => row.status === status)?.deliveries ?? 0;
    const noted = build
      .selectFrom('webhook_endpoints')
      .select('last_attempt')
      .where('id', '=', endpointId);
    const last = (await this.#database.get(noted))?.last_attempt ?? null;
    return {
      deliveryCounts: {
        pending: countOfStatus('pending'),
        succeeded: countOfStatus('succeeded'),
        failed: countOfStatus('failed'),
      },
      lastAttempt: last === null ? null : attemptOf(last),
    };
  }
}

function endpointsOf(scope: Scope) {
  return build
    .selectFrom('webhook_endpoints')
    .where(inScope(scope))
    .where('deleted_at', 'is', null);
}

function endpointOf(row: RowOf<WebhookEndpoint>): WebhookEndpoint {
  return recordOf<WebhookEndpoint>(row, {
    json: ['events'],
    without: ['failures_in_row', 'failing_since', 'deleted_at', 'after_position', 'last_attempt'],
  });
}

function attemptOf(json: string): EndpointHealth['lastAttempt'] {
  const { at, statusCode, error } = JSON.parse(json);
  return { at: new Date(at), statusCode, error };
}
