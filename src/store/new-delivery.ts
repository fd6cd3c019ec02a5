/** How a delivery begins: the columns that its row is made with, and what they hold. */
import { type RawBuilder, sql } from 'kysely';
import type { WebhookDeliveryRow } from './webhook-rows.ts';

/** The other columns are null until there is an answer. */
export const NEW_DELIVERY_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'endpoint_id',
  'event_id',
  'event_kind',
  'event_at',
  'status',
  'attempts',
  'next_attempt_at',
  'created_at',
] as const satisfies readonly (keyof WebhookDeliveryRow)[];

/** Values of the columns from `event_id` on, for a delivery that is due at once. The events table is to be called `event`. */
export function dueAtOnce(now: RawBuilder<number>) {
  return [
    'event.id as event_id',
    'event.kind as event_kind',
    'event.created_at as event_at',
    sql<string>`'pending'`.as('status'),
    sql<number>`0`.as('attempts'),
    now.as('next_attempt_at'),
    now.as('created_at'),
  ] as const;
}
