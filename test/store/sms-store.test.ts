import { describe, expect, test } from 'vitest';
import { recordSmsNews, recoverSms, type SmsMessage } from '../../src/domain/sms/sms-message.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { buildSms, buildSmsGateway } from '../support/store/build-sms.ts';
import { openTestStore } from '../support/store/test-store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

async function openWorld() {
  const store = await openTestStore();
  await store.agents.insert(buildAgent());
  for (const id of ['call_1', 'call_2', 'call_3']) {
    await store.calls.insert(buildCall({ id, status: 'completed', endedAt: new Date(0) }), []);
  }
  let count = 0;
  const admit = (fields: Partial<SmsMessage> = {}, dailyMax = 100) => {
    count += 1;
    const message = buildSms({ id: `sms_${count}`, text: `Text ${count}`, ...fields });
    return store.smsMessages.admit(message, dailyMax);
  };
  return { store, admit };
}

describe('SmsMessageStore.admit', () => {
  test('keeps three messages of a call, and no fourth', async () => {
    const { store, admit } = await openWorld();

    const answers = [await admit(), await admit(), await admit(), await admit()];

    expect(answers).toEqual([undefined, undefined, undefined, 'call-cap']);
    expect(await store.smsMessages.ofCall('call_1')).toHaveLength(3);
  });

  test('keeps five messages a day to one number, over all calls', async () => {
    const { admit } = await openWorld();
    for (const callId of ['call_1', 'call_1', 'call_2', 'call_2', 'call_3']) {
      await admit({ callId });
    }

    const same = await admit({ callId: 'call_3' });
    const other = await admit({ callId: 'call_3', to: '+393337654321' });
    const nextDay = await admit({ callId: 'call_2', createdAt: new Date('2026-11-21T00:00:00Z') });

    expect([same, other, nextDay]).toEqual(['number-cap', undefined, undefined]);
  });

  test('keeps no more than the account may send a day', async () => {
    const { admit } = await openWorld();
    await admit({ to: '+393331111111' }, 2);
    await admit({ to: '+393332222222' }, 2);

    expect(await admit({ callId: 'call_2', to: '+393333333333' }, 2)).toBe('daily-cap');
  });

  test('keeps the same words once a call, unless they failed', async () => {
    const { store, admit } = await openWorld();
    await admit({ text: 'Code 1' });
    const again = await admit({ text: 'Code 1' });
    await store.smsMessages.update(buildSms({ status: 'failed', reason: 'refused' }));
    const afterFailure = await admit({ text: 'Code 1' });

    expect([again, afterFailure]).toEqual(['repeated', undefined]);
  });

  test('keeps nothing for a number that wants no messages, until it wants them again', async () => {
    const { store, admit } = await openWorld();
    const number = '+393331234567';
    await store.smsOptOuts.add(SCOPE, { number, createdAt: new Date(0) });
    await store.smsOptOuts.add(SCOPE, { number, createdAt: new Date(1) });

    const refused = await admit();
    const removed = await store.smsOptOuts.remove(SCOPE, number);
    const allowed = await admit();

    expect([refused, removed, allowed]).toEqual(['opted-out', true, undefined]);
    expect(await store.smsOptOuts.remove(SCOPE, number)).toBe(false);
  });
});

describe('recordSmsNews', () => {
  test('keeps the last word of the network, and puts each state on the timeline once', async () => {
    const { store, admit } = await openWorld();
    await admit();
    const [message = buildSms()] = await store.smsMessages.ofCall('call_1');
    const now = new Date('2026-11-20T12:00:03.000Z');
    const tell = (news: Parameters<typeof recordSmsNews>[1]['news']) =>
      store.transaction((stores) => recordSmsNews(stores, { message, news, now }));

    await tell({ status: 'delivered' });
    await tell({ status: 'sent', providerId: 'SM1' });
    await tell({ status: 'delivered' });

    expect(await store.smsMessages.ofCall('call_1')).toMatchObject([
      { status: 'delivered', providerId: 'SM1' },
    ]);
    expect(await store.calls.timeline('call_1')).toEqual([
      {
        at: now,
        kind: 'message',
        details: { messageId: 'sms_1', status: 'delivered', gateway: 'main' },
      },
    ]);
    const found = { ...SCOPE, gateway: 'main' };
    expect(await store.smsMessages.findByProviderId(found, 'SM1')).toMatchObject({ id: 'sms_1' });
    const foreign = { ...found, accountId: 'acct_2' };
    expect(await store.smsMessages.findByProviderId(foreign, 'SM1')).toBeUndefined();
  });

  test('keeps the message and loses its text where the words of its call are erased', async () => {
    const { store, admit } = await openWorld();
    await admit();
    const account = await store.accounts.find('acct_1');
    if (account === undefined) throw new Error('There is no account');
    const retention = { ...account.retention, transcriptsDays: 1 };
    const order = {
      id: 'ers_1',
      accountId: 'acct_1',
      environment: null,
      kind: 'retention',
    } as const;
    const askedAt = new Date('2026-11-30T00:00:00.000Z');

    await store.accountRetention.apply(
      { ...account, retention },
      { ...order, askedBy: 'retention', askedAt },
    );

    expect(await store.smsMessages.ofCall('call_1')).toMatchObject([{ id: 'sms_1', text: null }]);
  });

  test('says nothing of a message whose call was erased', async () => {
    const { store, admit } = await openWorld();
    await admit();
    const [message = buildSms()] = await store.smsMessages.ofCall('call_1');
    const order = { ...SCOPE, id: 'ers_1', kind: 'call', askedBy: 'key_1' } as const;
    await store.erasures.erase('call_1', { ...order, askedAt: new Date(0) });

    await store.transaction((stores) =>
      recordSmsNews(stores, { message, news: { status: 'sent' }, now: new Date(5) }),
    );

    expect(await store.smsMessages.ofCall('call_1')).toEqual([]);
    expect(await store.calls.timeline('call_1')).toEqual([]);
  });
});

test('recoverSms says of messages that were on their way that it is not known what became of them', async () => {
  const { store, admit } = await openWorld();
  await admit();
  await admit({ status: 'sent' });

  await store.transaction((stores) => recoverSms(stores, new Date('2026-11-20T13:00:00Z')));

  expect(await store.smsMessages.ofCall('call_1')).toMatchObject([
    { status: 'unknown', reason: 'the server stopped before the gateway answered' },
    { status: 'sent', reason: null },
  ]);
  expect(await store.smsMessages.accepted()).toEqual([]);
});

describe('SmsGatewayStore', () => {
  test('gives gateways back as they were saved, and by scope', async () => {
    const { store } = await openWorld();
    const template = { format: 'form', headers: {}, body: { t: '{text}' }, idPath: null } as const;
    const gateway = buildSmsGateway({ template, allowedLinks: ['https://a.example/'] });
    await store.smsGateways.insert(gateway);
    await store.smsGateways.update({ ...gateway, secret: 'new' });

    expect(await store.smsGateways.find(SCOPE, 'main')).toEqual({ ...gateway, secret: 'new' });
    expect(await store.smsGateways.findById('smsgw_1')).toMatchObject({ name: 'main' });
    await store.smsGateways.update({ ...gateway, template: null });
    expect(await store.smsGateways.find(SCOPE, 'main')).toEqual({ ...gateway, template: null });
    expect(await store.smsGateways.find({ ...SCOPE, environment: 'test' }, 'main')).toBeUndefined();
    await expect(store.smsGateways.insert({ ...gateway, id: 'smsgw_2' })).rejects.toThrow(
      'this name',
    );
  });

  test('keeps a gateway that an agent names', async () => {
    const { store } = await openWorld();
    await store.smsGateways.insert(buildSmsGateway());
    await store.agents.update(buildAgent({ smsGateway: 'main', updatedAt: new Date() }));

    await expect(store.smsGateways.delete(SCOPE, 'main', new Date())).rejects.toThrow(
      'the agent "Reception"',
    );
    await store.agents.update(buildAgent({ smsGateway: null }));
    await store.smsGateways.delete(SCOPE, 'main', new Date());

    expect((await store.smsGateways.list(SCOPE, { limit: 5, offset: 0 })).total).toBe(0);
  });
});
