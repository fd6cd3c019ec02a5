import { expect, test } from 'vitest';
import { Metrics } from '../../src/lib/metrics/metrics.ts';

test('Metrics counts attempts of webhooks by result, measures them, and reads the outbox at each scrape', async () => {
  const metrics = new Metrics({ version: '1.2.3' });
  let pending = 7;
  metrics.webhooks.watchOutbox(async () => ({ pending, oldestSeconds: pending * 2 }));

  metrics.webhooks.attempted('ok', 20);
  metrics.webhooks.attempted('timeout', 10_000);
  await metrics.render();
  pending = 8;
  const text = await metrics.render();

  expect(text).toContain('offhook_webhook_attempts_total{result="ok"} 1');
  expect(text).toContain('offhook_webhook_attempts_total{result="refused"} 0');
  expect(text).toContain('offhook_webhook_attempt_seconds_bucket{le="0.025"} 1');
  expect(text).toContain('offhook_webhook_attempt_seconds_count 2');
  expect(text).toContain('offhook_webhook_outbox_pending 8');
  expect(text).toContain('offhook_webhook_outbox_oldest_seconds 16');
});

test('Metrics keeps the last values when the outbox cannot be read', async () => {
  const metrics = new Metrics({ version: '1.2.3' });
  let isBroken = false;
  metrics.webhooks.watchOutbox(async () => {
    if (isBroken) throw new Error('locked');
    return { pending: 7, oldestSeconds: 3 };
  });

  await metrics.render();
  isBroken = true;
  const text = await metrics.render();

  expect(text).toContain('offhook_webhook_outbox_pending 7');
});
