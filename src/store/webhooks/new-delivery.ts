/** How a delivery comes into its table: the row of one endpoint and one event, with what came of it so far; pure */

import { build } from '../sqlite/schema.ts';
import type { Take } from '../sqlite/statement.ts';
import { DELIVERY_COLUMNS } from './delivery-rows.ts';
import type { WebhookDeliveryRow } from './webhook-rows.ts';

/** What came of a delivery so far. */
export type Outcome = Pick<
  WebhookDeliveryRow,
  | 'id'
  | 'status'
  | 'attempts'
  | 'next_attempt_at'
  | 'last_status_code'
  | 'last_error'
  | 'finished_at'
>;

/** What a row is made from, besides its endpoint and its event. */
export interface NewDelivery extends Outcome {
  readonly endpointId: string;
  readonly eventId: string;
  readonly madeAtMs: number;
}

/** What a row copies from its endpoint and its event, in the order of `DELIVERY_COLUMNS`. */
export const COPIED_COLUMNS = [
  'endpoint.account_id',
  'endpoint.environment',
  'endpoint.id as endpoint_id',
  'event.id as event_id',
  'event.kind as event_kind',
  'event.created_at as event_at',
] as const;

/** Due at once, as every delivery begins. */
export function dueAtOnce(id: string, madeAtMs: number): Outcome {
  return {
    id,
    status: 'pending',
    attempts: 0,
    next_attempt_at: madeAtMs,
    last_status_code: null,
    last_error: null,
    finished_at: null,
  };
}

/** Adds no row where the endpoint or the event is gone. */
export function insertDelivery(take: Take<NewDelivery>) {
  return build
    .insertInto('webhook_deliveries')
    .columns(DELIVERY_COLUMNS)
    .expression(selectDelivery(take));
}

/** Columns as in `DELIVERY_COLUMNS`. */
function selectDelivery(take: Take<NewDelivery>) {
  return build
    .selectFrom('webhook_endpoints as endpoint')
    .innerJoin('events as event', (join) => join.on('event.id', '=', take('eventId')))
    .where('endpoint.id', '=', take('endpointId'))
    .select([
      take('id').as('id'),
      ...COPIED_COLUMNS,
      take('status').as('status'),
      take('attempts').as('attempts'),
      take('next_attempt_at').as('next_attempt_at'),
      take('last_status_code').as('last_status_code'),
      take('last_error').as('last_error'),
      take('madeAtMs').as('created_at'),
      take('finished_at').as('finished_at'),
    ]);
}
