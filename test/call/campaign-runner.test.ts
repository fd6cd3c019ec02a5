import { expect, test } from 'vitest';
import { QUEUED_CALLS_MAX } from '../../src/domain/dialing/outbound-rules.ts';
import { buildCall } from '../support/store/build-call.ts';
import { STORE_NOW_MS } from '../support/store/test-store.ts';
import { FROM, numberOf, openCampaignWorld, pass, QUEUE } from './support/campaign-world.ts';

const HOUR_MS = 3_600_000;

test('CampaignRunner makes the calls of a campaign at its pace, in the order of the list', async () => {
  const world = await openCampaignWorld();
  const id = await world.add(5, { callsPerMinute: 60 });

  world.runner.start();
  await pass(world, 2500);

  expect((await world.queued()).map(({ to, from }) => [from, to])).toEqual(
    [1, 2, 3].map((row) => [FROM, numberOf(row)]),
  );
  expect(await world.states(id)).toEqual([
    ...['calling 1', 'calling 1', 'calling 1'],
    ...['pending 0', 'pending 0'],
  ]);
  await world.runner.stop();
});

test('CampaignRunner keeps to the number of calls at the same time', async () => {
  const world = await openCampaignWorld();
  await world.add(5, { callsPerMinute: 600, maxConcurrentCalls: 2 });
  world.runner.start();
  await pass(world, 3000);
  const before = (await world.queued()).length;

  await world.end(numberOf(1), 'user_hangup');
  await pass(world, 3000);

  expect(before).toBe(2);
  expect((await world.queued()).map(({ to }) => to)).toEqual([numberOf(2), numberOf(3)]);
  await world.runner.stop();
});

test('CampaignRunner ends a campaign when all contacts are done, and counts how', async () => {
  const world = await openCampaignWorld();
  const id = await world.add(3, { callsPerMinute: 600 });
  world.runner.start();
  await pass(world, 1000);

  await world.end(numberOf(1), 'user_hangup');
  await world.end(numberOf(2), 'busy');
  await world.end(numberOf(3), 'error');
  await pass(world, 3000);

  expect(await world.store.campaigns.findById(id)).toMatchObject({ status: 'completed' });
  expect(await world.store.campaigns.counts(id)).toMatchObject({
    ...{ total: 3, completed: 1, failed: 2, pending: 0, calling: 0 },
    byEndReason: { user_hangup: 1, busy: 1, error: 1 },
  });
  await world.runner.stop();
});

test('CampaignRunner retries an unanswered call after the delay, as often as the campaign says', async () => {
  const world = await openCampaignWorld();
  const retries = { max: 1, delaySeconds: 60 };
  const id = await world.add(1, { retries });
  world.runner.start();
  await pass(world, 500);

  await world.end(numberOf(1), 'no_answer');
  await pass(world, 58_000);
  const early = await world.states(id);
  await pass(world, 5000);
  const second = await world.states(id);
  await world.end(numberOf(1), 'no_answer');
  await pass(world, 2000);

  expect([early, second]).toEqual([['pending 1'], ['calling 2']]);
  expect(await world.states(id)).toEqual(['failed 2']);
  await world.runner.stop();
});

test('CampaignRunner goes on when the clock is set back: neither first calls nor retries wait for the time from before', async () => {
  const world = await openCampaignWorld();
  const retries = { max: 1, delaySeconds: 60 };
  const id = await world.add(2, { retries, maxConcurrentCalls: 1 });
  world.runner.start();
  await pass(world, 500);
  await world.end(numberOf(1), 'no_answer');
  await pass(world, 500);

  world.store.clock.setCalendar(-72 * HOUR_MS);
  await pass(world, 2000);
  await world.end(numberOf(2), 'user_hangup');
  await pass(world, 3000);

  expect(await world.states(id)).toEqual(['calling 2', 'completed 1']);
  await world.runner.stop();
});

test('CampaignRunner writes refusals of the dial policy to their contacts, and goes on', async () => {
  const world = await openCampaignWorld();
  const contacts = ['+4930123456', '+39899123456', FROM, numberOf(1)].map((to) => ({ to }));
  const id = await world.add(0, { contacts });

  world.runner.start();
  await pass(world, 1000);

  const { items: kept } = await world.store.campaigns.contacts(id, { limit: 9, offset: 0 });
  expect(kept.map(({ state }) => state)).toEqual(['refused', 'refused', 'refused', 'calling']);
  expect(kept.slice(0, 3).map(({ reason }) => reason?.replace(/^.*": /, ''))).toEqual([
    'its country may not be called.',
    'numbers of that kind may not be called.',
    'it rings here, which would be a loop.',
  ]);
  expect(world.reached).toEqual(['refused', 'refused', 'refused', 'called']);
  await world.runner.stop();
});

test('CampaignRunner pauses a campaign whose agent is paused, and says why', async () => {
  const world = await openCampaignWorld();
  const id = await world.add(2, { callsPerMinute: 600 });
  const agent = await world.store.agents.find(
    { accountId: 'acct_1', environment: 'live' },
    'agent_1',
  );
  if (agent !== undefined) await world.store.agents.update({ ...agent, status: 'paused' });

  world.runner.start();
  await pass(world, 500);

  expect(await world.store.campaigns.findById(id)).toMatchObject({
    status: 'paused',
    statusReason: 'The agent "Reception" is paused.',
  });
  expect(await world.states(id)).toEqual(['pending 0', 'pending 0']);
  await world.runner.stop();
});

test('CampaignRunner pauses a campaign whose number no trunk has, instead of refusing its list', async () => {
  const noTrunk = { ...QUEUE, hasTrunkFor: () => false };
  const world = await openCampaignWorld({ dialQueues: { live: noTrunk, test: noTrunk } });
  const id = await world.add(1);

  world.runner.start();
  await pass(world, 500);

  expect((await world.store.campaigns.findById(id))?.statusReason).toContain('no trunk has');
  expect(await world.states(id)).toEqual(['pending 0']);
  await world.runner.stop();
});

test('CampaignRunner waits while the queue is full', async () => {
  const world = await openCampaignWorld();
  const waiting = { direction: 'outbound', status: 'queued', startedAt: null } as const;
  for (let index = 0; index < QUEUED_CALLS_MAX; index += 1) {
    await world.store.calls.insert(buildCall({ ...waiting, id: `call_w${index}` }), []);
  }
  const id = await world.add(1);
  world.runner.start();
  await pass(world, 1000);
  const full = await world.states(id);

  const first = await world.store.calls.findById('call_w0');
  if (first !== undefined)
    await world.store.calls.update({ ...first, status: 'failed', endedAt: new Date() }, []);
  await pass(world, 2000);

  expect(full).toEqual(['pending 0']);
  expect(await world.states(id)).toEqual(['calling 1']);
  await world.runner.stop();
});

test.each([
  ['forth', 6 * HOUR_MS],
  ['back', -6 * HOUR_MS],
])('CampaignRunner lets no burst through when the clock is set %s', async (_where, byMs) => {
  const world = await openCampaignWorld();
  await world.add(50, { callsPerMinute: 60 });
  world.runner.start();
  await pass(world, 2000);

  world.store.clock.setCalendar(byMs);
  await pass(world, 3000);

  expect((await world.queued()).length).toBeLessThanOrEqual(6);
  await world.runner.stop();
});

test('CampaignRunner lets no burst through after a start, however often', async () => {
  const world = await openCampaignWorld();
  await world.add(50, { callsPerMinute: 60 });
  world.runner.start();
  await pass(world, 500);
  await world.runner.stop();

  for (let start = 0; start < 5; start += 1) {
    const again = await openCampaignWorld({}, world.store);
    world.store.clock.advance(1);
    again.runner.start();
    await pass(again, 500);
    await again.runner.stop();
  }

  expect((await world.queued()).length).toBe(1);
});

test('CampaignRunner places no call before notBefore, and gives up the remaining contacts at notAfter', async () => {
  const world = await openCampaignWorld();
  const at = (ms: number) => new Date(STORE_NOW_MS + ms);
  const id = await world.add(3, { notBefore: at(10_000), notAfter: at(11_500) });
  world.runner.start();
  await pass(world, 9000);
  const early = (await world.queued()).length;

  await pass(world, 4000);

  const { items: contacts } = await world.store.campaigns.contacts(id, { limit: 9, offset: 0 });
  expect(early).toBe(0);
  expect(contacts.map(({ state }) => state)).toEqual(['calling', 'calling', 'failed']);
  expect(contacts[2]?.reason).toContain('notAfter');
  await world.runner.stop();
});

test('CampaignRunner keeps the calling hours of each number’s country', async () => {
  const world = await openCampaignWorld();
  const account = await world.store.accounts.find('acct_1');
  if (account === undefined) throw new Error('There is no account');
  // 12:00 UTC is 13:00 in Italy, and 20:00 in Singapore.
  const callingHours = { days: ['fri'], from: '09:00', until: '18:00', timeZone: 'UTC' } as const;
  await world.store.accounts.update({ ...account, callingHours, allowedCountries: ['IT', 'SG'] });
  const contacts = [{ to: '+6561234567' }, { to: numberOf(1) }];
  const id = await world.add(0, { contacts });

  world.runner.start();
  await pass(world, 1000);

  const { items: kept } = await world.store.campaigns.contacts(id, { limit: 9, offset: 0 });
  expect(kept.map(({ state }) => state)).toEqual(['pending', 'calling']);
  expect(kept[0]?.reason).toContain("It waits for the account's calling hours");
  await world.runner.stop();
});

test('CampaignRunner makes no more calls once it drains', async () => {
  const world = await openCampaignWorld();
  await world.add(50, { callsPerMinute: 600 });
  world.runner.start();
  await pass(world, 200);
  const before = (await world.queued()).length;

  world.runner.drain();
  await pass(world, 3000);

  expect((await world.queued()).length).toBe(before);
  await world.runner.stop();
});

test('CampaignRunner goes on after an error of the database', async () => {
  const world = await openCampaignWorld();
  const { transaction } = world.store;
  let failures = 2;
  const parts = {
    transaction: ((work) => {
      failures -= 1;
      if (failures >= 0) return Promise.reject(new Error('The disk is full'));
      return transaction(work);
    }) satisfies typeof transaction as typeof transaction,
  };
  const failing = await openCampaignWorld(parts, world.store);
  const id = await world.add(1);

  failing.runner.start();
  await pass(failing, 4000);

  expect(await world.states(id)).toEqual(['calling 1']);
  await failing.runner.stop();
});

test('CampaignRunner goes on with other campaigns where one cannot', async () => {
  const world = await openCampaignWorld();
  const { store } = world;
  const agents = {
    findByPhoneNumber: (number: string) => store.agents.findByPhoneNumber(number),
    find: (...[scope, id]: Parameters<typeof store.agents.find>) =>
      id === 'agent_broken'
        ? Promise.reject(new TypeError('A mistake'))
        : store.agents.find(scope, id),
  };
  const { accounts, campaigns } = store;
  const broken = await openCampaignWorld({ stores: { accounts, agents, campaigns } }, store);
  const first = await world.add(1);
  const second = await world.add(1);
  const campaign = await campaigns.findById(first);
  if (campaign !== undefined) await campaigns.update({ ...campaign, agentId: 'agent_broken' });

  broken.runner.start();
  await pass(broken, 2000);

  expect([await world.states(first), await world.states(second)]).toEqual([
    ['pending 0'],
    ['calling 1'],
  ]);
  await broken.runner.stop();
});
