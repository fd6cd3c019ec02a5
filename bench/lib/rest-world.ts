/** What the servers of the rest benchmark share: the same records, two keys, and no log. */
import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import { API_SCOPES, describeKey, hashOfKey } from '../../src/domain/account/api-key.ts';
import type { RateStore } from '../../src/domain/account/rate-limit.ts';
import { createAgent } from '../../src/domain/agent/agent-rules.ts';
import type { DialQueue } from '../../src/domain/dialing/outbound-rules.ts';
import { idMaker, type NewId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { ACCOUNT, openHistory } from './call-history.ts';

/** Of an account with calls and agents, whose requests are counted and never refused. */
export const KEY = `svc_live_${'1'.repeat(32)}`;

/** Of an account whose hour is used up. */
export const SPENT_KEY = `svc_live_${'2'.repeat(32)}`;

export const LINK_SECRET = 'a secret of thirty-two characters';

const SPENT_ACCOUNT = 'acct_spent';

const AGENTS = 20;

/** From the range that is kept for examples. */
export const FROM_NUMBER = '+12025550123';

/** Adds keys and agents to a history of calls. The agents' ids are those of the calls. */
export async function addRestRecords(file: string): Promise<void> {
  const store = await openHistory(file);
  const createdAt = systemClock.now();
  await addSpentAccount(store, createdAt);
  for (const [key, accountId] of [
    [KEY, ACCOUNT],
    [SPENT_KEY, SPENT_ACCOUNT],
  ] as const) {
    const facts = {
      id: `key_${accountId}`,
      accountId,
      environment: 'live',
      name: 'bench',
    } as const;
    await store.apiKeys.insert(
      describeKey(key, { ...facts, scopes: API_SCOPES, createdAt }),
      hashOfKey(key),
    );
  }
  for (let index = 0; index < AGENTS; index += 1) {
    const scope = { accountId: ACCOUNT, environment: 'live' } as const;
    const draft = { name: `Agent ${index}`, greeting: 'Hello.', systemPrompt: 'You answer calls.' };
    await store.agents.insert(createAgent(draft, { id: `agent_${index}`, scope, now: createdAt }));
  }
  await store.close();
}

async function addSpentAccount(store: Store, createdAt: Date): Promise<void> {
  const none = {
    transferTargets: [],
    allowedCountries: null,
    callingHours: null,
    retention: KEEP_CALLS,
  } as const;
  const account = {
    id: SPENT_ACCOUNT,
    name: 'Spent',
    plan: 'starter',
    minutesIncluded: 0,
  } as const;
  const signingSecrets = { live: 'whsec_bench', test: 'whsec_bench' };
  await store.accounts.found({
    account: { ...account, ...none, createdAt },
    signingSecrets,
    apiKeys: [],
  });
}

/** Takes every call out of the queue of a server that has nothing to do at the moment. */
export function emptyQueue(file: string): void {
  const sqlite = new Sqlite(file);
  sqlite.exec(`update calls set status = 'failed' where status = 'queued'`);
  sqlite.close();
}

export interface RestWorld {
  readonly store: Store;
  readonly rates: RateStore;
  readonly newId: NewId;
  readonly queue: DialQueue;
}

/** Opens what a server of the benchmark stands on. */
export async function openRestWorld(file: string): Promise<RestWorld> {
  const store = await openHistory(file);
  return {
    store,
    rates: unlimited(store.rates),
    newId: idMaker({ nowMs: Date.now, random: randomBytes }),
    queue: {
      isDraining: false,
      hasTrunkFor: () => true,
      estimatedStart: async () => systemClock.now(),
    },
  };
}

/** Counts as the server does, for an hour that never ends, or that is over. */
function unlimited(rates: RateStore): RateStore {
  return {
    count: async (subject, window) => {
      await rates.count(subject, window);
      return subject.includes(SPENT_ACCOUNT) ? 1_000_000 : 1;
    },
  };
}
