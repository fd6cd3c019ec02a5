/** Deletes webhook endpoints whose deliveries are too many for one transaction: hidden at once, gone in steps. */
import { sql } from 'kysely';
import type { Scope } from '../domain/agent.ts';
import type { Database } from './database.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';

/** Where deleted endpoints wait for the end of their deliveries: no key speaks for this environment. */
const NOWHERE = sql.lit('deleted');

interface ById extends Scope {
  readonly id: string;
}

interface Limit {
  readonly limit: number;
}

interface Batch extends Limit {
  /** Deliveries whose attempts may go. */
  readonly deliveries: number;
}

function prepareSteps(database: Database) {
  return {
    hide: database.prepare((take: Take<ById>) =>
      build
        .updateTable('webhook_endpoints')
        .set({ environment: NOWHERE, status: 'disabled', disabled_reason: 'deleted' })
        .where('id', '=', take('id'))
        .where('account_id', '=', take('accountId'))
        .where('environment', '=', take('environment')),
    ),
    any: database.prepare(() =>
      build
        .selectFrom(sql<{ id: string }>`(select id from ${deletedEndpoints()})`.as('endpoint'))
        .select('id')
        .limit(1),
    ),
    attempts: database.prepare((take: Take<Batch>) =>
      build.deleteFrom('webhook_attempts').where(
        sql<boolean>`position in (select attempt.position
          from (select delivery.id from ${deletedDeliveries()} limit ${take('deliveries')}) delivery
          cross join webhook_attempts attempt on attempt.delivery_id = delivery.id limit ${take('limit')})`,
      ),
    ),
    deliveries: database.prepare((take: Take<Limit>) =>
      build
        .deleteFrom('webhook_deliveries')
        .where(
          sql<boolean>`id in (select delivery.id from ${deletedDeliveries()} limit ${take('limit')})`,
        ),
    ),
    endpoints: database.prepare((take: Take<Limit>) =>
      build
        .deleteFrom('webhook_endpoints')
        .where(sql<boolean>`id in (select id from ${deletedEndpoints()} limit ${take('limit')})`),
    ),
  };
}

/** An index of disabled endpoints leads to them. */
function deletedEndpoints() {
  return sql`webhook_endpoints where status = 'disabled' and environment = ${NOWHERE}`;
}

/** In the same order in every statement, so that the first ones of one are the first ones of another. */
function deletedDeliveries() {
  return sql`(select id from ${deletedEndpoints()}) endpoint
    cross join webhook_deliveries delivery indexed by deliveries_by_endpoint
      on delivery.endpoint_id = endpoint.id`;
}

/** Runs inside the transactions and reads of others. */
export class DeletedEndpoints {
  readonly #steps: ReturnType<typeof prepareSteps>;

  constructor(database: Database) {
    this.#steps = prepareSteps(database);
  }

  /** From now on nobody finds the endpoint or its deliveries, and nothing is sent to it. */
  hide(scope: Scope, endpointId: string): void {
    const { accountId, environment } = scope;
    this.#steps.hide.run({ accountId, environment, id: endpointId });
  }

  /** Whether there are endpoints, of whichever account, that are not wholly gone. */
  get areThere(): boolean {
    return this.#steps.any.get({}) !== undefined;
  }

  /**
   * Deletes `rowsMax` rows of hidden endpoints at most. Deliveries soon follow their attempts: were all attempts to go
   * first, each call would look again at the deliveries that have none left.
   *
   * @returns how many.
   */
  purge(rowsMax: number): number {
    const { attempts, deliveries, endpoints } = this.#steps;
    let left = rowsMax - attempts.run({ deliveries: rowsMax, limit: rowsMax });
    for (const step of [deliveries, endpoints]) {
      if (left > 0) left -= step.run({ limit: left });
    }
    return rowsMax - left;
  }
}
