/** Our side of `bench/webhooks.ts`: the store and the deliverer as the server runs them. */
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { Deliverer } from '../../src/webhook/deliverer.ts';
import { HttpSender } from '../../src/webhook/http-sender.ts';
import { nameResolver } from '../../src/webhook/ssrf-guard.ts';

/** Short, so that what is answered 500 is over within the run. */
const WAITS_SECONDS = [0, 0.05, 0.1, 0.2, 0.4];

/** The `Nth` event; each goes to one endpoint, the endpoints in turn. */
export function eventBody(index: number, sentAtMs?: number): string {
  const at = '2026-11-20T12:00:00.000Z';
  return JSON.stringify({
    event: 'call.ended',
    id: `evt_${index}`,
    createdAt: at,
    data: {
      callId: 'call_0Vq9Ga1sLd7f2kQx8mRt4Zyb',
      agentId: 'agent_0Vq9Ga1sLd7f2kQx8mRt4Zyb',
      direction: 'inbound',
      from: '+15550100001',
      to: '+15550100002',
      startedAt: at,
      endedAt: at,
      durationSeconds: 63,
      endReason: 'user_hangup',
      carrierCallSid: 'a84b4c76e66710@198.51.100.7',
      ...(sentAtMs === undefined ? {} : { sentAtMs }),
    },
  });
}

/** A store with so many accounts of one endpoint each. */
export async function openOutbox(options: {
  readonly file: string;
  readonly endpoints: readonly string[];
}): Promise<Store> {
  const store = await openStore({ file: options.file, clock: systemClock, log: silentLogger });
  // It ends with the process.
  store.startCheckpoints();
  const now = systemClock.now();
  for (const [index, url] of options.endpoints.entries()) {
    const accountId = accountOf(index);
    if ((await store.accounts.find(accountId)) !== undefined) continue;
    await store.accounts.found({
      account: {
        id: accountId,
        name: accountId,
        plan: 'business',
        minutesIncluded: 0,
        transferTargets: [],
        allowedCountries: null,
        callingHours: null,
        retention: KEEP_CALLS,
        createdAt: now,
      },
      signingSecrets: { live: SECRET, test: SECRET },
      apiKeys: [],
    });
    await store.webhookEndpoints.insert({
      id: `we_${String(index).padStart(3, '0')}`,
      accountId,
      environment: 'live',
      url,
      events: ['call.ended'],
      description: '',
      status: 'active',
      disabledReason: null,
      createdAt: now,
      updatedAt: now,
    });
  }
  return store;
}

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const accountOf = (endpoint: number) => `acct_${endpoint}`;

/** Writes an event as the stores of what it tells do. */
export async function happen(
  store: Store,
  index: number,
  endpoint: number,
  sentAtMs?: number,
): Promise<void> {
  await store.events.insertQuiet({
    id: `evt_${index}`,
    accountId: accountOf(endpoint),
    environment: 'live',
    kind: 'call.ended',
    callId: null,
    createdAt: systemClock.now(),
    body: eventBody(index, sentAtMs),
  });
  if (sentAtMs !== undefined) store.outbox.notifier.notify();
}

/** Delivers until so many were received with success, or nothing waits. @returns attempts that had an answer. */
export async function deliver(store: Store, successes: number): Promise<number> {
  const done = Promise.withResolvers<void>();
  let [successful, answered] = [0, 0];
  const sender = new HttpSender({
    rules: { allowLocal: true, allowPrivate: false },
    resolve: nameResolver(),
    clock: systemClock,
    version: 'bench',
  });
  const deliverer = new Deliverer({
    outbox: store.outbox,
    sender,
    meter: {
      attempted: (kind) => {
        answered += 1;
        if (kind === 'ok') successful += 1;
        if (successful === successes) done.resolve();
      },
    },
    clock: systemClock,
    log: silentLogger,
    waitsSeconds: WAITS_SECONDS,
    jitter: Math.random,
  });
  deliverer.start();
  // Without a number to wait for, an outbox that stays empty is the end: between two batches of events it is so as well.
  let answeredBefore = -1;
  const look = setInterval(async () => {
    const isStill = answered === answeredBefore && (await isEmpty(store));
    if (successes === Number.POSITIVE_INFINITY && isStill) done.resolve();
    answeredBefore = answered;
  }, LOOK_MS);
  await done.promise;
  clearInterval(look);
  // Stopping waits for the endpoint that hangs: the figures are taken before.
  stops.push(async () => {
    await deliverer.stop();
    await sender.close();
  });
  return answered;
}

const LOOK_MS = 200;

async function isEmpty(store: Store): Promise<boolean> {
  return (await store.outbox.counts()).pending === 0;
}

const stops: (() => Promise<void>)[] = [];

/** Stops what `deliver` started. */
export async function stopDelivering(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}
