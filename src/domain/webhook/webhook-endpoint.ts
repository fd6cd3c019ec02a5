/** Webhook endpoints: their rules, and the contract of the store that keeps them. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import type { EventStamp } from '../call/call-events.ts';
import { emptyPatch, laterThan, type Page, type Unset } from '../ids.ts';
import { conflict } from '../service-error.ts';
import type { CustomerEventKind, ServiceEvent } from './service-event.ts';
import type { DeliveryAttempt, DeliveryStatus } from './webhook-delivery.ts';
import { checkWebhookUrl, type WebhookUrlRules } from './webhook-url.ts';

/** A disabled endpoint receives no events. */
export type WebhookEndpointStatus = 'active' | 'disabled';

/** A URL of the customer with the kinds of events to send there. */
export interface WebhookEndpoint {
  /** `we_…`. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly url: string;
  /** Kinds to send; at least one. */
  readonly events: readonly CustomerEventKind[];
  readonly description: string;
  readonly status: WebhookEndpointStatus;
  /** Why the server disabled it, in plain English; null when it did not. */
  readonly disabledReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Limit of endpoints per account and environment. */
export const WEBHOOK_ENDPOINTS_MAX = 100;

/** How an endpoint has done: its deliveries of the last 30 days, and the newest attempt. */
export interface EndpointHealth {
  readonly deliveryCounts: Readonly<Record<DeliveryStatus, number>>;
  /** Null before the first attempt. */
  readonly lastAttempt: Pick<DeliveryAttempt, 'at' | 'statusCode' | 'error'> | null;
}

/** Keeps webhook endpoints. */
export interface WebhookEndpointStore {
  /** @throws {ServiceError} CONFLICT when there are `WEBHOOK_ENDPOINTS_MAX` already. */
  insert(endpoint: WebhookEndpoint): Promise<void>;

  /** Saves every field; becoming `active` forgets the failures counted so far. */
  update(endpoint: WebhookEndpoint): Promise<void>;

  /** Hides it and its deliveries at once, for retention to delete; attempts in flight are not called back. */
  delete(scope: Scope, endpointId: string, now: Date): Promise<void>;

  find(scope: Scope, endpointId: string): Promise<WebhookEndpoint | undefined>;

  /** Newest first, ties by id. */
  list(
    scope: Scope,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<WebhookEndpoint>>;

  health(endpointId: string): Promise<EndpointHealth>;
}

/** Longest description of an endpoint, in characters. */
export const DESCRIPTION_CHARS_MAX = 500;

/**
 * Deliveries that one request sends again; the thread that also holds the conversations is busy with so many for about
 * 5 ms, and for a tenth of a second where a hundred endpoints have as many each.
 */
export const RESENDS_MAX = 2000;

/** How long a span of events may be sent again at once. */
export const RESEND_SPAN_MS_MAX = 31 * 86_400_000;

/** An endpoint as customers describe it, of the right types and lengths. */
type EndpointDraft = Pick<WebhookEndpoint, 'url' | 'events'> &
  Unset<Pick<WebhookEndpoint, 'description'>>;

/** A change: only the fields that are there. */
export type EndpointPatch = Unset<
  Pick<WebhookEndpoint, 'url' | 'events' | 'description' | 'status'>
>;

/**
 * Makes an active endpoint.
 *
 * @throws {ServiceError} VALIDATION_ERROR or UNPROCESSABLE when its URL is refused.
 */
export function createEndpoint(
  draft: EndpointDraft,
  facts: {
    readonly id: string;
    readonly scope: Scope;
    readonly now: Date;
    readonly urlRules: WebhookUrlRules;
  },
): WebhookEndpoint {
  const { id, scope, now, urlRules } = facts;
  checkWebhookUrl(draft.url, urlRules);
  return {
    id,
    accountId: scope.accountId,
    environment: scope.environment,
    url: draft.url,
    events: draft.events,
    description: draft.description ?? '',
    status: 'active',
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Changes the fields that the patch has. A change of status also clears the reason why the server disabled the
 * endpoint; a status equal to the current one has no effect.
 *
 * @throws {ServiceError} VALIDATION_ERROR when the patch is empty, VALIDATION_ERROR or UNPROCESSABLE when the URL is
 * refused.
 */
export function patchEndpoint(
  endpoint: WebhookEndpoint,
  patch: EndpointPatch,
  { now, urlRules }: { readonly now: Date; readonly urlRules: WebhookUrlRules },
): WebhookEndpoint {
  const { url, events, description } = patch;
  const status = patch.status === endpoint.status ? undefined : patch.status;
  const isSame = [url, events, description, status].every((field) => field === undefined);
  if (isSame && patch.status === undefined) throw emptyPatch('the webhook endpoint');
  if (isSame) return endpoint;
  if (url !== undefined) checkWebhookUrl(url, urlRules);
  return {
    ...endpoint,
    url: url ?? endpoint.url,
    events: events ?? endpoint.events,
    description: description ?? endpoint.description,
    status: status ?? endpoint.status,
    disabledReason: status === undefined ? endpoint.disabledReason : null,
    updatedAt: laterThan(endpoint.updatedAt, now),
  };
}

/** The event that shows a customer that an endpoint works. @throws {ServiceError} CONFLICT when it is disabled. */
export function testEvent(endpoint: WebhookEndpoint, { id, now }: EventStamp): ServiceEvent {
  if (endpoint.status === 'disabled') {
    throw conflict('Cannot test the webhook endpoint: it is disabled');
  }
  const { accountId, environment } = endpoint;
  const kind = 'webhook.test';
  const data = { endpointId: endpoint.id };
  const body = JSON.stringify({ event: kind, id, createdAt: now.toISOString(), data });
  return { id, accountId, environment, kind, callId: null, createdAt: now, body };
}
