/** A campaign runner on a real store, with a queue that nothing is dialled from unless the test says so. */
import { setImmediate } from 'node:timers/promises';
import type { CampaignCallParts } from '../../../src/call/outbound/campaign-call.ts';
import { CampaignRunner } from '../../../src/call/outbound/campaign-runner.ts';
import type { Call, EndReason } from '../../../src/domain/call/call.ts';
import { endCall, moveCall } from '../../../src/domain/call/call-life.ts';
import { newCampaign } from '../../../src/domain/campaign/new-campaign.ts';
import type { DialQueue } from '../../../src/domain/dialing/outbound-rules.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { buildAgent } from '../../support/store/build-agent.ts';
import { openTestStore, type TestStore } from '../../support/store/test-store.ts';

export const FROM = '+390698765432';

/** The called number of row `row`, from 1. */
export const numberOf = (row: number) => `+39061234${1000 + row}`;

export const QUEUE: DialQueue = {
  isDraining: false,
  hasTrunkFor: () => true,
  estimatedStart: async () => new Date(0),
};

let ids = 0;

export interface CampaignWorld {
  readonly store: TestStore;
  readonly runner: CampaignRunner;
  /** Results that were counted. */
  readonly reached: readonly string[];
  /** Makes a campaign of `rows` contacts. */
  add(rows: number, fields?: Partial<Parameters<typeof newCampaign>[0]>): Promise<string>;
  /** Calls that wait in the queue, by called number. */
  queued(): Promise<readonly Call[]>;
  /** Ends the waiting call to a number. */
  end(to: string, reason: EndReason): Promise<void>;
  /** State and attempts of every contact. */
  states(id: string): Promise<readonly string[]>;
}

export async function openCampaignWorld(
  parts: Partial<CampaignCallParts> = {},
  store?: TestStore,
): Promise<CampaignWorld> {
  const opened = store ?? (await openTestStore());
  const agent = buildAgent({ phoneNumber: FROM });
  if (store === undefined) await opened.agents.insert(agent);
  const newId = (prefix: string) => {
    ids += 1;
    return `${prefix}_${String(ids).padStart(6, '0')}`;
  };
  const reached: string[] = [];
  const runner = new CampaignRunner({
    stores: opened,
    transaction: opened.transaction,
    dialQueues: { live: QUEUE, test: QUEUE },
    ownerOf: async () => undefined,
    plansWithoutOutbound: [],
    counts: { reached: (result) => reached.push(result) },
    ...{ newId, clock: opened.clock, log: silentLogger },
    ...parts,
  });
  const queued = () => opened.calls.queued('live', 'outbound', 2000);
  return {
    store: opened,
    runner,
    reached,
    queued,
    add: async (rows, fields = {}) => {
      const contacts = Array.from({ length: rows }, (_, index) => ({ to: numberOf(index + 1) }));
      const pace = { callsPerMinute: 60, maxConcurrentCalls: 100 };
      const draft = { name: 'Recall', contacts, ...pace, ...fields };
      const facts = { id: newId('camp'), agent, now: opened.clock.now() };
      const made = newCampaign(draft, facts);
      await opened.campaigns.insert(made.campaign, made.contacts);
      return made.campaign.id;
    },
    end: async (to, endReason) => {
      const call = (await queued()).find((waiting) => waiting.to === to);
      if (call === undefined) throw new Error(`No call to ${to} waits`);
      const endedAt = opened.clock.now();
      const rings = moveCall(call, 'ringing', { startedAt: endedAt });
      const isTalk = endReason === 'user_hangup' || endReason === 'agent_hangup';
      const talks = isTalk ? moveCall(rings, 'in_progress', { answeredAt: endedAt }) : rings;
      await opened.calls.update(rings, []);
      if (isTalk) await opened.calls.update(talks, []);
      await opened.calls.update(endCall(talks, { endReason, endedAt }), []);
    },
    states: async (id) => {
      const { items: contacts } = await opened.campaigns.contacts(id, { limit: 100, offset: 0 });
      return contacts.map(({ state, attempts }) => `${state} ${attempts}`);
    },
  };
}

/** Lets time go by in steps of 100 ms, with what happens meanwhile. */
export async function pass(world: CampaignWorld, ms: number): Promise<void> {
  for (let gone = 0; gone <= ms; gone += 100) {
    for (let turn = 0; turn < 4; turn += 1) await setImmediate();
    if (gone < ms) world.store.clock.advance(100);
  }
}
