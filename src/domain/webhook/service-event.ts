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

/** A kind of event that endpoints may listen to. */
export type CustomerEventKind = (typeof CUSTOMER_EVENT_KINDS)[number];

/** Every kind. `webhook.test` goes to one endpoint only, because a customer asked for it. */
export const SERVICE_EVENT_KINDS = [...CUSTOMER_EVENT_KINDS, 'webhook.test'] as const;

/** Any kind of event. */
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

/** A page of the ledger; filters left out match every event. */
export interface EventQuery {
  /** Position after which to start, from `LedgerPage.nextPosition`; 0 starts at the oldest. */
  readonly afterPosition: number;
  readonly limit: number;
  readonly kind?: CustomerEventKind;
  readonly callId?: string;
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdBefore?: Date;
}

/** A page of the ledger, with the position at which the next one starts. */
export interface LedgerPage {
  readonly events: readonly ServiceEvent[];
  /** Position of the next page; unchanged at the end of the ledger. */
  readonly nextPosition: number;
  /**
   * Whether more events may follow. A page scans a bounded number of events: with selective filters it may hold few, or
   * none, though the next page has more.
   */
  readonly hasMore: boolean;
}

/** Reads the events of the outbox; the stores write them with the changes that cause them. */
export interface EventStore {
  /** In the order in which they happened. */
  listByCall(callId: string): Promise<readonly ServiceEvent[]>;

  /** The ledger, oldest first, `webhook.test` left out. */
  page(scope: Scope, query: EventQuery): Promise<LedgerPage>;

  /** Saves an event outside any change of a call, without notifying the deliverer. */
  insertQuiet(event: ServiceEvent): Promise<void>;
}
