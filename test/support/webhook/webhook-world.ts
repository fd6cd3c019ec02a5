/** Endpoints, events and a deliverer over a real store. */
import { onTestFinished } from 'vitest';
import type { ServiceEvent } from '../../../src/domain/webhook/service-event.ts';
import { type Outbox, RETRY_WAITS_SECONDS } from '../../../src/domain/webhook/webhook-delivery.ts';
import type { WebhookEndpoint } from '../../../src/domain/webhook/webhook-endpoint.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { type Logger, silentLogger } from '../../../src/lib/logger.ts';
import type { Store } from '../../../src/store/store.ts';
import type { AnswerKind } from '../../../src/webhook/answer.ts';
import { Deliverer } from '../../../src/webhook/deliverer.ts';
import { HttpSender } from '../../../src/webhook/http-sender.ts';
import { nameResolver, type ResolveName } from '../../../src/webhook/ssrf-guard.ts';
import { STORE_NOW_MS } from '../store/test-store.ts';
import { FakeClock } from '../time/fake-clock.ts';

export const LOCAL_RULES = { allowLocal: true, allowPrivate: false };

export const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

export function buildEndpoint(fields: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    id: 'we_1',
    ...SCOPE,
    url: 'https://receiver.example/hook',
    events: ['call.started', 'call.ended'],
    description: '',
    status: 'active',
    disabledReason: null,
    createdAt: new Date(STORE_NOW_MS),
    updatedAt: new Date(STORE_NOW_MS),
    ...fields,
  };
}

export function buildEvent(fields: Partial<ServiceEvent> = {}): ServiceEvent {
  const { id = 'evt_1', kind = 'call.started', createdAt = new Date(STORE_NOW_MS) } = fields;
  const body = JSON.stringify({ event: kind, id, createdAt, data: { callId: 'call_1' } });
  return { id, ...SCOPE, kind, callId: null, createdAt, body, ...fields };
}

/** Writes events and notifies, as the stores of what they tell do. */
export async function happen(store: Store, ...events: readonly ServiceEvent[]): Promise<void> {
  for (const event of events) await store.events.insertQuiet(event);
  store.outbox.notifier.notify();
}

/** Starts to deliver; stops with the test. */
export function startDeliverer(
  store: Store,
  options: {
    readonly clock?: Clock;
    readonly waitsSeconds?: readonly number[];
    readonly timeoutMs?: number;
    readonly log?: Logger;
    readonly resolve?: ResolveName;
    readonly outbox?: Outbox;
  } = {},
) {
  const { clock = systemClock, log = silentLogger, timeoutMs } = options;
  const { waitsSeconds = RETRY_WAITS_SECONDS } = options;
  const attempts: AnswerKind[] = [];
  const sender = new HttpSender({
    rules: LOCAL_RULES,
    resolve: options.resolve ?? nameResolver(),
    clock,
    version: '1.2.3',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const deliverer = new Deliverer({
    outbox: options.outbox ?? store.outbox,
    sender,
    meter: { attempted: (kind) => attempts.push(kind) },
    clock,
    log,
    waitsSeconds,
    jitter: () => 0,
  });
  deliverer.start();
  const stop = async () => {
    await deliverer.stop();
    await sender.close();
  };
  onTestFinished(async () => {
    const stopped = stop();
    if (clock instanceof FakeClock) clock.advance(2000);
    await stopped;
  });
  return { stop, attempts };
}

/** Resolves when the condition holds. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}
