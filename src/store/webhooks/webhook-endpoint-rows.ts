/** Turns rows of the webhook endpoints table into endpoints and back; pure */
import type { Environment } from '../../domain/account/account.ts';
import type { CustomerEventKind } from '../../domain/webhook/service-event.ts';
import type {
  WebhookEndpoint,
  WebhookEndpointStatus,
} from '../../domain/webhook/webhook-endpoint.ts';
import type { WebhookEndpointRow } from './webhook-rows.ts';

/** What an endpoint is made of; how often it failed is the outbox's to know. */
export type EndpointRow = Omit<
  WebhookEndpointRow,
  'failures_in_row' | 'failing_since' | 'deleted_at'
>;

export const ENDPOINT_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'url',
  'events',
  'description',
  'status',
  'disabled_reason',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof EndpointRow)[];

export function endpointRowOf(endpoint: WebhookEndpoint): EndpointRow {
  return {
    id: endpoint.id,
    account_id: endpoint.accountId,
    environment: endpoint.environment,
    url: endpoint.url,
    events: JSON.stringify(endpoint.events),
    description: endpoint.description,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    created_at: endpoint.createdAt.getTime(),
    updated_at: endpoint.updatedAt.getTime(),
  };
}

export function endpointOf(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    url: row.url,
    events: JSON.parse(row.events) as CustomerEventKind[],
    description: row.description,
    status: row.status as WebhookEndpointStatus,
    disabledReason: row.disabled_reason,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
