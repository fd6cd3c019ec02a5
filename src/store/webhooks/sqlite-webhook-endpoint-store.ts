/** Webhook endpoints in SQLite. */
import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../../domain/agent/agent.ts';
import { ServiceError } from '../../domain/service-error.ts';
import {
  WEBHOOK_ENDPOINTS_MAX,
  type WebhookEndpoint,
  type WebhookEndpointPage,
  type WebhookEndpointStore,
} from '../../domain/webhook/webhook-endpoint.ts';
import type { Notifier } from '../../lib/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { build } from '../sqlite/schema.ts';
import { type Take, takeAll } from '../sqlite/statement.ts';
import {
  ENDPOINT_COLUMNS,
  type EndpointRow,
  endpointOf,
  endpointRowOf,
} from './webhook-endpoint-rows.ts';

interface ById extends Scope {
  readonly id: string;
}

interface Page extends Scope {
  readonly limit: number;
  readonly offset: number;
}

function prepareWrites(database: Database) {
  return {
    insert: database.prepare((take: Take<EndpointRow>) =>
      build.insertInto('webhook_endpoints').values({
        ...takeAll(take, ENDPOINT_COLUMNS),
        failures_in_row: 0,
        failing_since: null,
        deleted_at: null,
      }),
    ),
    update: database.prepare((take: Take<EndpointRow>) =>
      build
        .updateTable('webhook_endpoints')
        .set({
          ...takeAll(take, ENDPOINT_COLUMNS),
          failures_in_row: unlessReviving(take, sql<number>`failures_in_row`, sql<number>`0`),
          failing_since: unlessReviving(take, sql<number>`failing_since`, sql<null>`null`),
        })
        .where('id', '=', take('id'))
        .where('account_id', '=', take('account_id'))
        .where('environment', '=', take('environment'))
        .where('deleted_at', 'is', null),
    ),
    /** Pending deliveries of a disabled endpoint end, and retention deletes the rows. */
    delete: database.prepare((take: Take<ById & { readonly now: number }>) =>
      build
        .updateTable('webhook_endpoints')
        .set({ deleted_at: take('now'), status: 'disabled', disabled_reason: 'deleted' })
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
  };
}

/** In an update's values, `status` still is what it was before. */
function unlessReviving<Value, Fresh>(
  take: Take<EndpointRow>,
  value: RawBuilder<Value>,
  fresh: RawBuilder<Fresh>,
): RawBuilder<Value | Fresh> {
  return sql`case when status <> 'active' and ${take('status')} = 'active' then ${fresh} else ${value} end`;
}

function prepareReads(database: Database) {
  return {
    find: database.prepare((take: Take<ById>) =>
      endpointsOf(take).select(ENDPOINT_COLUMNS).where('id', '=', take('id')),
    ),
    list: database.prepare((take: Take<Page>) =>
      endpointsOf(take)
        .select(ENDPOINT_COLUMNS)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(take('limit'))
        .offset(take('offset')),
    ),
    count: database.prepare((take: Take<Scope>) =>
      endpointsOf(take).select((expression) => expression.fn.countAll<number>().as('n')),
    ),
  };
}

function endpointsOf(take: Take<Scope>) {
  return build
    .selectFrom('webhook_endpoints')
    .where('account_id', '=', take('accountId'))
    .where('environment', '=', take('environment'))
    .where('deleted_at', 'is', null);
}

/** Keeps webhook endpoints in SQLite. */
export class SqliteWebhookEndpointStore implements WebhookEndpointStore {
  readonly #database: Database;
  readonly #bell: Notifier;
  readonly #writes: ReturnType<typeof prepareWrites>;
  readonly #reads: ReturnType<typeof prepareReads>;

  /** @param bell Rings after changes: deliveries that are pending for a disabled endpoint end at once. */
  constructor(database: Database, bell: Notifier) {
    this.#database = database;
    this.#bell = bell;
    this.#writes = prepareWrites(database);
    this.#reads = prepareReads(database);
  }

  insert(endpoint: WebhookEndpoint): void {
    const row = endpointRowOf(endpoint);
    this.#database.write(() => {
      if (this.#count(endpoint) >= WEBHOOK_ENDPOINTS_MAX) {
        throw new ServiceError(
          'CONFLICT',
          `Cannot make the webhook endpoint: there are ${WEBHOOK_ENDPOINTS_MAX} already`,
        );
      }
      this.#writes.insert.run(row);
    });
  }

  update(endpoint: WebhookEndpoint): void {
    this.#database.write(() => this.#writes.update.run(endpointRowOf(endpoint)));
    this.#bell.ring();
  }

  delete(scope: Scope, endpointId: string, now: Date): void {
    const values = { ...scope, id: endpointId, now: now.getTime() };
    this.#database.write(() => this.#writes.delete.run(values));
    this.#bell.ring();
  }

  find(scope: Scope, endpointId: string): WebhookEndpoint | undefined {
    const row = this.#database.read(() => this.#reads.find.get({ ...scope, id: endpointId }));
    return row === undefined ? undefined : endpointOf(row);
  }

  list(
    scope: Scope,
    page: { readonly limit: number; readonly offset: number },
  ): WebhookEndpointPage {
    return this.#database.read(() => ({
      endpoints: this.#reads.list.all({ ...scope, ...page }).map(endpointOf),
      total: this.#count(scope),
    }));
  }

  #count(scope: Scope): number {
    return this.#reads.count.get(scope)?.n ?? 0;
  }
}
