/** Where a customer wants events sent, and the contract of the store that keeps it. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';
import type { CustomerEventKind } from './service-event.ts';

export type WebhookEndpointStatus = 'active' | 'disabled';

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

/** An account and environment may have so many. */
export const WEBHOOK_ENDPOINTS_MAX = 100;

export interface WebhookEndpointPage {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly total: number;
}

/** Keeps webhook endpoints. */
export interface WebhookEndpointStore {
  /** @throws {ServiceError} CONFLICT when there are `WEBHOOK_ENDPOINTS_MAX` already. */
  insert(endpoint: WebhookEndpoint): void;

  /** Saves every field; becoming `active` forgets the failures counted so far. */
  update(endpoint: WebhookEndpoint): void;

  /** Hides it and its deliveries at once, for retention to delete; attempts in flight are not called back. */
  delete(scope: Scope, endpointId: string, now: Date): void;

  find(scope: Scope, endpointId: string): WebhookEndpoint | undefined;

  /** Newest first, ties by id. */
  list(
    scope: Scope,
    page: { readonly limit: number; readonly offset: number },
  ): WebhookEndpointPage;
}
