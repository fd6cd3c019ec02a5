/** Which agents get `send_sms` on a call, by gateways, accounts and owners of numbers. */
import { expect, test } from 'vitest';
import type { SmsGateway } from '../../src/domain/sms/sms-gateway.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { CallSms } from '../../src/tool/sms/call-sms.ts';
import { SmppGateways } from '../../src/tool/sms/smpp/smpp-gateways.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { buildCall } from '../support/store/build-call.ts';
import { buildSmsGateway } from '../support/store/build-sms.ts';
import { openTestStore } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const CALLER = '+393331234567';

async function openWorld(gateways: readonly Partial<SmsGateway>[], owner = 'acct_1') {
  const store = await openTestStore();
  for (const fields of gateways) await store.smsGateways.insert(buildSmsGateway(fields));
  const parts = { stores: store, rules: { allowLocal: false, allowPrivate: false } };
  const clock = new FakeClock();
  const unused = () => Promise.reject(new Error('Not a part of this test'));
  const sms = new CallSms({
    ...parts,
    clock,
    numberOwners: { mayUse: async (accountId) => accountId === owner },
    client: unused,
    sendText: unused,
    smpp: new SmppGateways({ ...parts, clock, lookup: unused, log: silentLogger }),
    keysOf: unused,
    publicUrl: 'https://voice.example',
    callbackSecret: unused,
    newId: (prefix) => `${prefix}_1`,
  });
  const agent = buildAgent({ tools: ['send_sms'], phoneNumber: '+393339999999' });
  const call = buildCall({ direction: 'inbound', from: CALLER });
  return { sms, agent, call };
}

const SIP = { kind: 'sip', preset: null, url: null } as const;

test.each([
  ['one gateway', [{}], {}, 1],
  ['no gateway', [], {}, 0],
  ['two gateways, of which the agent names none', [{}, { id: 'smsgw_2', name: 'b' }], {}, 0],
  [
    'two gateways, of which the agent names one',
    [{}, { id: 'smsgw_2', name: 'b' }],
    { smsGateway: 'b' },
    1,
  ],
  ['a gateway of the sandbox', [{ environment: 'test' }], {}, 0],
  ['a gateway, which the agent does not list', [{}], { tools: [] }, 0],
  ['a SIP gateway', [SIP], {}, 1],
] as const)('CallSms.toolsOf: with %s', async (_case, gateways, fields, count) => {
  const { sms, agent, call } = await openWorld(gateways);

  expect(await sms.toolsOf({ ...agent, ...fields }, call)).toHaveLength(count);
});

test('CallSms.toolsOf: a number that another account owns by now sends no messages', async () => {
  const { sms, agent, call } = await openWorld([SIP], 'acct_2');

  expect(await sms.toolsOf(agent, call)).toEqual([]);
});
