/** Events that customers receive by webhook, and the contract of the store that keeps them. */
import type { Environment } from '../account/account.ts';
import type { Scope } from '../agent/agent.ts';

/** The kinds that an endpoint may listen to. @see the interface specification, "Events" */
export const CUSTOMER_EVENT_KINDS = [
  'call.started',
  'call.ended',
  'call.transcribed',
  'appointment.booked',
  'call.bridged',
] as const;

export type CustomerEventKind = (typeof CUSTOMER_EVENT_KINDS)[number];

/** Every kind. `webhook.test` goes to one endpoint only, because a customer asked for it. */
export const SERVICE_EVENT_KINDS = [...CUSTOMER_EVENT_KINDS, 'webhook.test'] as const;

export type ServiceEventKind = (typeof SERVICE_EVENT_KINDS)[number];

/** Saved in the same transaction as the change that caused it. */
export interface ServiceEvent {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly kind: ServiceEventKind;
  /** Null when no call caused it. */
  readonly callId: string | null;
  readonly createdAt: Date;
  /** The body as it will be signed and sent, byte for byte. */
  readonly body: string;
}

/** How long events can be read and sent again. */
export const EVENTS_KEPT_MS = 30 * 86_400_000;

export interface EventQuery {
  /** Place after which to begin, as `LedgerPage.nextPosition` gave it; 0 begins at the oldest. */
  readonly afterPosition: number;
  readonly limit: number;
  readonly kind?: CustomerEventKind;
  readonly callId?: string;
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdBefore?: Date;
}

export interface LedgerPage {
  readonly events: readonly ServiceEvent[];
  /** Where the next page begins; stays where it was at the end. */
  readonly nextPosition: number;
  /**
   * Whether there may be more by now. A page looks at a bounded number of events: where its filters leave out many, it
   * may hold few, even none, and the next page goes on.
   */
  readonly hasMore: boolean;
}

/** The outbox: events are written by the stores of what they tell, and read here. */
export interface EventStore {
  /** In the order in which they happened. */
  listByCall(callId: string): readonly ServiceEvent[];

  /** The ledger, oldest first, `webhook.test` left out. */
  page(scope: Scope, query: EventQuery): LedgerPage;

  /** Saves an event outside any change of a call, without notifying the deliverer. */
  insertQuiet(event: ServiceEvent): void;
}
