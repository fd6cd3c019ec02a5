/** Composition root: sends what happens to the customers' own servers. */
import type { Config } from './config.ts';
import { systemClock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import type { Metrics } from './lib/metrics.ts';
import type { Store } from './store/store.ts';
import { Deliverer } from './webhook/deliverer.ts';
import { HttpSender } from './webhook/http-sender.ts';
import { nameResolver } from './webhook/resolve-name.ts';

/**
 * Starts to deliver webhooks. It goes on while the server drains; to be stopped before the store is closed.
 *
 * @returns stops it; safe to call twice.
 */
export function startWebhooks(from: {
  readonly config: Config;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly version: string;
  readonly log: Logger;
}): () => Promise<void> {
  const { config, store, metrics, version, log } = from;
  const clock = systemClock;
  const sender = new HttpSender({
    rules: {
      allowLocal: config.WEBHOOK_ALLOW_LOCAL,
      allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    },
    resolve: nameResolver(),
    clock,
    version,
  });
  const deliverer = new Deliverer({
    outbox: store.outbox,
    sender,
    meter: metrics.webhooks,
    clock,
    log,
    waitsSeconds: config.WEBHOOK_BACKOFF_SECONDS,
    jitter: Math.random,
  });
  metrics.webhooks.watchOutbox(() => {
    const { pending, oldestAt } = store.outbox.counts();
    const ageMs = oldestAt === null ? 0 : clock.now().getTime() - oldestAt.getTime();
    return { pending, oldestSeconds: Math.max(0, ageMs) / 1000 };
  });
  deliverer.start();
  return async () => {
    await deliverer.stop();
    await sender.close();
  };
}
