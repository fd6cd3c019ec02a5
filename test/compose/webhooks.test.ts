/** When webhooks begin to be sent. */
import { expect, test } from 'vitest';
import { Webhooks } from '../../src/compose/webhooks.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Outbox } from '../../src/domain/webhook/webhook-delivery.ts';
import { Notifier } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';

/** An outbox that stays empty, and knows how often it was asked. */
class EmptyOutbox implements Outbox {
  readonly notifier = new Notifier();
  asked = 0;

  async fanOut(): Promise<number> {
    this.asked += 1;
    return 0;
  }

  async due(): Promise<readonly []> {
    return [];
  }

  async waiting(): Promise<readonly []> {
    return [];
  }

  async hurry(): Promise<void> {}

  async record(): Promise<readonly []> {
    return [];
  }

  async counts() {
    return { pending: 0, oldestAt: null };
  }
}

function webhooksFrom(outbox: Outbox): Webhooks {
  const metrics = new Metrics({ version: 'test' });
  const store = { outbox };
  return new Webhooks({
    ...{ config: readConfig({}), store, metrics, version: 'test', log: silentLogger },
  });
}

/** A look is made in an immediate of its own. */
const looked = () => new Promise((resolve) => setImmediate(resolve));

test('Webhooks look into the outbox once they are started', async () => {
  const outbox = new EmptyOutbox();
  const webhooks = webhooksFrom(outbox);

  await webhooks.start();
  await looked();

  expect(outbox.asked).toBeGreaterThan(0);
  await webhooks.stop();
});

test('Webhooks stopped while they are loaded never look into the outbox', async () => {
  const outbox = new EmptyOutbox();
  const webhooks = webhooksFrom(outbox);

  const started = webhooks.start();
  await webhooks.stop();
  await started;
  await looked();

  expect(outbox.asked).toBe(0);
});
