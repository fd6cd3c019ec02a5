/** What a customer is told by webhook: the event's envelope and data, and the outbox row that holds its bytes. */
import type { Environment } from './account.ts';

export type ServiceEventKind =
  | 'call.started'
  | 'call.ended'
  | 'call.transcribed'
  | 'appointment.booked'
  | 'call.bridged';

/** Saved in the same transaction as the change that caused it. */
export interface ServiceEvent {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly kind: ServiceEventKind;
  readonly callId: string;
  readonly createdAt: Date;
  /** The body as it will be signed and sent, byte for byte. */
  readonly body: string;
}

/** The outbox: events are written by the stores of what they tell, and read here. */
export interface EventStore {
  /** In the order in which they happened. */
  listByCall(callId: string): readonly ServiceEvent[];
}
