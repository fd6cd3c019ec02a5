/** Composition root: delivery of webhooks. */
import type { Config } from '../config/config.ts';
import type { WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import { systemClock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import { Deliverer } from '../webhook/deliverer.ts';
import type { HttpSender } from '../webhook/http-sender.ts';
import type { AppParts } from './app-parts.ts';

type Options = Pick<AppParts, 'config' | 'metrics' | 'version' | 'log'> & {
  readonly store: Pick<Store, 'outbox'>;
};

/** Which receivers of requests the operator has opened besides public ones. */
export function urlRulesOf(
  config: Pick<Config, 'WEBHOOK_ALLOW_LOCAL' | 'WEBHOOK_ALLOW_PRIVATE'>,
): WebhookUrlRules {
  const { WEBHOOK_ALLOW_LOCAL: allowLocal, WEBHOOK_ALLOW_PRIVATE: allowPrivate } = config;
  return { allowLocal, allowPrivate };
}

/** Reports the outbox's length and age as metrics. */
export function watchOutbox({ store, metrics }: Pick<Options, 'store' | 'metrics'>): void {
  metrics.webhooks.watchOutbox(async () => {
    const { pending, oldestAt } = await store.outbox.counts();
    const ageMs = oldestAt === null ? 0 : systemClock.now().getTime() - oldestAt.getTime();
    return { pending, oldestSeconds: Math.max(0, ageMs) / 1000 };
  });
}

/** Delivers webhooks, also while the server drains. */
export class Webhooks {
  readonly #options: Options;
  #sender: HttpSender | undefined;
  #deliverer: Deliverer | undefined;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Loads undici's hundred modules, and begins to deliver. */
  async start(): Promise<void> {
    const { HttpSender } = await import('../webhook/http-sender.ts');
    if (this.#isStopped) return;
    const { config, store, metrics, version, log } = this.#options;
    this.#sender = new HttpSender({
      rules: urlRulesOf(config),
      clock: systemClock,
      version,
    });
    this.#deliverer = new Deliverer({
      outbox: store.outbox,
      sender: this.#sender,
      meter: metrics.webhooks,
      clock: systemClock,
      log,
      waitsSeconds: config.WEBHOOK_BACKOFF_SECONDS,
      jitter: Math.random,
    });
    this.#deliverer.start();
  }

  /** Call it before the store is closed. Safe to call twice, and before the start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#deliverer?.stop();
    await this.#sender?.close();
  }
}
