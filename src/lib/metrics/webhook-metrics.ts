/** How webhooks are received, and how many wait. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { addAskedGauge } from './asked-gauge.ts';

/** Where attempts are reported; `result` is one of ok, http, timeout, network, refused. */
export interface WebhookMetrics {
  attempted(result: string, tookMs: number): void;

  /** Adds the two gauges of what waits, read at every scrape; `read` may fail. Once. */
  watchOutbox(read: () => MeasuredOutbox): void;
}

/** What waits in the outbox now. */
export interface MeasuredOutbox {
  readonly pending: number;
  /** Age of the oldest; 0 when there is none. */
  readonly oldestSeconds: number;
}

export function webhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const attempts = new Counter<'result'>({
    name: 'offhook_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by what came of them.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['ok', 'http', 'timeout', 'network', 'refused']) attempts.inc({ result }, 0);
  const seconds = new Histogram({
    name: 'offhook_webhook_attempt_seconds',
    help: 'From the beginning of an attempt to its answer, or to giving up.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    attempted: (result, tookMs) => {
      attempts.inc({ result });
      seconds.observe(tookMs / 1000);
    },
    watchOutbox: (read) => addOutboxGauges(registry, read),
  };
}

function addOutboxGauges(registry: Registry, read: () => MeasuredOutbox): void {
  addAskedGauge(registry, {
    name: 'offhook_webhook_outbox_pending',
    help: 'Deliveries that are not over.',
    read: () => read().pending,
  });
  addAskedGauge(registry, {
    name: 'offhook_webhook_outbox_oldest_seconds',
    help: 'Age of the oldest delivery that is not over; of the first 100,000 where there are more.',
    read: () => read().oldestSeconds,
  });
}
