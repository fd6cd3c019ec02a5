import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { webhookMetrics } from '../../src/lib/metrics/metric-families.ts';

test('webhookMetrics counts attempts by result, measures them, and reads the outbox at each scrape', async () => {
  const registry = new Registry();
  const metrics = webhookMetrics(registry);
  let pending = 7;
  metrics.watchOutbox(async () => ({ pending, oldestSeconds: pending * 2 }));

  metrics.attempted('ok', 20);
  metrics.attempted('timeout', 10_000);
  await registry.metrics();
  pending = 8;
  const text = await registry.metrics();

  expect(text).toContain('offhook_webhook_attempts_total{result="ok"} 1');
  expect(text).toContain('offhook_webhook_attempts_total{result="refused"} 0');
  expect(text).toContain('offhook_webhook_attempt_seconds_bucket{le="0.025"} 1');
  expect(text).toContain('offhook_webhook_attempt_seconds_count 2');
  expect(text).toContain('offhook_webhook_outbox_pending 8');
  expect(text).toContain('offhook_webhook_outbox_oldest_seconds 16');
});

test('webhookMetrics keeps the last values when the outbox cannot be read', async () => {
  const registry = new Registry();
  const metrics = webhookMetrics(registry);
  let isBroken = false;
  metrics.watchOutbox(async () => {
    if (isBroken) throw new Error('locked');
    return { pending: 7, oldestSeconds: 3 };
  });

  await registry.metrics();
  isBroken = true;
  const text = await registry.metrics();

  expect(text).toContain('offhook_webhook_outbox_pending 7');
});
