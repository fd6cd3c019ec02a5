import { expect, test } from 'vitest';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import { newCampaign } from '../../src/domain/campaign/new-campaign.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;
const SANDBOX = { ...SCOPE, environment: 'test' } as const;
const NUMBER = '+390612345678';
const NOW = new Date(STORE_NOW_MS);

async function addCampaign(
  store: TestStore,
  id: string,
  scope: typeof SCOPE | typeof SANDBOX = SCOPE,
) {
  const draft = { name: id, callsPerMinute: 10, maxConcurrentCalls: 5 };
  const contacts = [{ to: NUMBER, metadata: { name: 'Anna' } }, { to: '+390612345679' }];
  const made = newCampaign({ ...draft, contacts }, { id, agent: buildAgent(scope), now: NOW });
  await store.campaigns.insert(made.campaign, made.contacts);
  return made;
}

const rowsOf = async (store: TestStore, id: string) =>
  (await store.campaigns.contacts(id, { limit: 9, offset: 0 })).items;

test('CampaignStore gives back what it was given', async () => {
  const store = await openTestStore();

  const { campaign, contacts } = await addCampaign(store, 'camp_1');

  expect(await store.campaigns.find(SCOPE, 'camp_1')).toEqual(campaign);
  expect(await rowsOf(store, 'camp_1')).toEqual(
    contacts.map((contact, index) => ({
      ...contact,
      ...{ campaignId: 'camp_1', position: index + 1, state: 'pending', attempts: 0 },
      ...{ callId: null, endReason: null, reason: null, dueAt: NOW },
    })),
  );
});

test('CampaignStore shows campaigns to their account and environment alone', async () => {
  const store = await openTestStore();
  await addCampaign(store, 'camp_1');

  const foreign = await store.campaigns.find({ ...SCOPE, accountId: 'acct_2' }, 'camp_1');
  const { total } = await store.campaigns.list(SANDBOX, { limit: 9, offset: 0 });

  expect([await store.campaigns.find(SANDBOX, 'camp_1'), foreign, total]).toEqual([
    undefined,
    undefined,
    0,
  ]);
});

test('CampaignStore binds a contact to one call, once', async () => {
  const store = await openTestStore();
  await addCampaign(store, 'camp_1');
  const [contact] = await rowsOf(store, 'camp_1');
  if (contact === undefined) throw new Error('There is no contact');
  const claim = (callId: string) =>
    store.transaction(async ({ calls, campaigns }) => {
      const isClaimed = await campaigns.claim(contact, callId);
      if (isClaimed) await calls.insert(buildCall({ id: callId }), []);
      return isClaimed;
    });

  const claims = [await claim('call_1'), await claim('call_2')];

  expect(claims).toEqual([true, false]);
  expect((await rowsOf(store, 'camp_1'))[0]).toMatchObject({ state: 'calling', callId: 'call_1' });
});

test('CampaignStore refuses one campaign too many of those that are not over', async () => {
  const store = await openTestStore();
  for (let index = 0; index < 100; index += 1) await addCampaign(store, `camp_${index}`);

  await expect(addCampaign(store, 'camp_more')).rejects.toThrow('100 are not over');
  await expect(addCampaign(store, 'camp_test', SANDBOX)).resolves.toBeDefined();
});

test('ErasureStore takes an erased number off the lists of its account', async () => {
  const store = await openTestStore();
  await addCampaign(store, 'camp_live');
  await addCampaign(store, 'camp_test', SANDBOX);
  const order = { id: 'ers_1', accountId: 'acct_1', askedBy: 'key_1', askedAt: NOW } as const;

  await store.erasures.note(
    { ...SCOPE, number: NUMBER },
    { ...order, environment: 'live', kind: 'number' },
  );

  const left = [await rowsOf(store, 'camp_live'), await rowsOf(store, 'camp_test')];
  expect(left.map((rows) => rows.length)).toEqual([1, 2]);
  expect(await store.leftovers.inPages()).toBe('asked');
});

test('AccountRetention drops campaigns with the calls of their age, and keeps those that run', async () => {
  const store = await openTestStore();
  const { campaign } = await addCampaign(store, 'camp_over');
  await store.campaigns.update({ ...campaign, status: 'completed', endedAt: NOW });
  await addCampaign(store, 'camp_runs');
  const account = await store.accounts.find('acct_1');
  if (account === undefined) throw new Error('There is no account');
  const keeping = { ...account, retention: { ...KEEP_CALLS, callsDays: 30 } };
  const order = { id: 'ers_1', accountId: 'acct_1', environment: null } as const;
  const askedBy = { kind: 'retention', askedBy: 'retention' } as const;
  const at = (days: number) => new Date(STORE_NOW_MS + days * 86_400_000);

  await store.accountRetention.apply(keeping, { ...order, ...askedBy, askedAt: at(29) });
  const before = await store.campaigns.list(SCOPE, { limit: 9, offset: 0 });
  await store.accountRetention.apply(keeping, { ...order, ...askedBy, askedAt: at(31) });
  const after = await store.campaigns.list(SCOPE, { limit: 9, offset: 0 });

  expect(before.total).toBe(2);
  expect(after.items.map(({ id }) => id)).toEqual(['camp_runs']);
});
