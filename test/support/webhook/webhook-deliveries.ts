/** Brings deliveries into the states that tests need, through the stores that bring them there in the server. */
import type {
  AttemptResult,
  DeliveryStatus,
} from '../../../src/domain/webhook/webhook-delivery.ts';
import type { Store } from '../../../src/store/store.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../store/test-store.ts';
import { buildEndpoint, buildEvent } from './webhook-world.ts';

interface Outcome {
  readonly status?: DeliveryStatus;
  readonly attempt?: number;
  readonly at?: Date;
}

/** Opens a store with one endpoint, and a delivery `dlv_<minute>` for each minute after noon that is named. */
export async function openWith(
  statuses: Readonly<Record<number, DeliveryStatus>>,
): Promise<TestStore> {
  const store = await openTestStore();
  await store.webhookEndpoints.insert(buildEndpoint());
  for (const [minute, status] of Object.entries(statuses)) {
    const createdAt = new Date(STORE_NOW_MS + Number(minute) * 60_000);
    await store.events.insertQuiet(buildEvent({ id: `evt_${minute}`, createdAt }));
    const ids = { endpointId: 'we_1', eventId: `evt_${minute}`, deliveryId: `dlv_${minute}` };
    await addDelivery(store, ids, { status });
  }
  return store;
}

/** Sends a kept event to an endpoint, and ends its first attempt unless it is to stay pending. */
export async function addDelivery(
  store: Store,
  ids: { readonly endpointId: string; readonly eventId: string; readonly deliveryId: string },
  { status = 'failed', at = new Date(STORE_NOW_MS) }: Outcome = {},
): Promise<void> {
  await store.deliveries.sendTo(ids.endpointId, { id: ids.eventId }, ids.deliveryId, at);
  if (status !== 'pending') await record(store, ids.deliveryId, { status, at });
}

/** Writes what came of an attempt; `pending` is a failure that is followed by another attempt. */
export async function record(
  store: Store,
  deliveryId: string,
  outcome: Outcome = {},
): Promise<void> {
  const { status = 'failed', attempt = 1, at = new Date(STORE_NOW_MS) } = outcome;
  const isSuccess = status === 'succeeded';
  const result: AttemptResult = {
    deliveryId,
    isSuccess,
    nextAttemptAt: status === 'pending' ? new Date(at.getTime() + 30_000) : null,
    attempt: {
      attempt,
      at,
      durationMs: 20,
      statusCode: isSuccess ? 200 : 500,
      error: isSuccess ? null : 'the receiver answered 500',
      responseText: isSuccess ? 'ok' : 'oh no',
      requestHeaders: [{ name: 'webhook-id', value: 'evt_0' }],
      responseHeaders: [{ name: 'server', value: 'nginx' }],
    },
  };
  await store.outbox.record([result], at);
}
