/** Rows of the tables of webhooks: endpoints, deliveries, attempts; pure */

export interface WebhookEndpointRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly url: string;
  readonly events: string;
  readonly description: string;
  readonly status: string;
  readonly disabled_reason: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** Deliveries that failed for good since the last success. */
  readonly failures_in_row: number;
  /** When the first of them failed. */
  readonly failing_since: number | null;
  /** Null while it exists for customers. */
  readonly deleted_at: number | null;
}

export interface WebhookDeliveryRow {
  readonly id: string;
  readonly account_id: string;
  readonly environment: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_kind: string;
  /** When the event was created: what ranges are chosen by. */
  readonly event_at: number;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: number | null;
  readonly last_status_code: number | null;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

export interface WebhookAttemptRow {
  readonly delivery_id: string;
  readonly attempt: number;
  readonly at: number;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response_text: string | null;
}

/** How far a reader of the outbox has come. */
export interface OutboxCursorRow {
  readonly name: string;
  readonly position: number;
}
