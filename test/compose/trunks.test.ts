/** What the interface learns of the operator's trunks, and what it never does. */
import { expect, test } from 'vitest';
import { operatorTrunks, TrunkRegistry } from '../../src/telephony/trunks/trunk-registry.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';

const SETTINGS = [
  {
    name: 'acme',
    proxy: 'sip.example.com:5070;transport=tcp',
    username: 'joe-the-user',
    password: 'the-password',
    realm: 'the-realm',
    register: true,
    numbers: ['+390612345678', '+39069*'],
    maxCalls: 4,
  },
  { name: 'other', proxy: '[2001:db8::1]', codecs: ['PCMA'], numbers: ['+390699'.padEnd(13, '1')] },
];

const TRUNKS = new TrunkRegistry(parseTrunks(JSON.stringify(SETTINGS)));

test('operatorTrunks tells how each trunk is, without its password', () => {
  const expiresAt = new Date(5000);
  const trunks = operatorTrunks(TRUNKS, {
    statusOf: () => ({ state: 'ready', detail: 'registered', expiresAt }),
    addressFor: () => ({ address: '203.0.113.10', source: 'carrier' }),
    callsOn: ({ name }) => (name === 'acme' ? 3 : 0),
  });

  expect(trunks.list()).toEqual([
    {
      name: 'acme',
      source: 'file',
      account: null,
      proxy: 'sip.example.com:5070',
      domain: null,
      transport: 'tcp',
      username: 'joe-the-user',
      hasPassword: true,
      realm: 'the-realm',
      register: true,
      registerExpiresSeconds: 300,
      optionsIntervalSeconds: 30,
      callerId: null,
      callerIdHeader: 'pai',
      allowedSources: [],
      srtp: 'off',
      transfer: 'auto',
      acceptTransfers: false,
      callsPerSecond: null,
      advertisedAddress: null,
      state: 'ready',
      detail: 'registered',
      expiresAt,
      numbers: ['+390612345678', '+39069*'],
      codecs: ['PCMU', 'PCMA'],
      addressInUse: { address: '203.0.113.10', source: 'carrier' },
      callsInProgress: 3,
      maxCalls: 4,
      price: null,
    },
    expect.objectContaining({ name: 'other', proxy: '[2001:db8::1]', maxCalls: null }),
  ]);
  expect(JSON.stringify(trunks.list())).not.toContain('the-password');
});

test('operatorTrunks says before the start that there is none yet', () => {
  const trunks = operatorTrunks(TRUNKS, { statusOf: () => undefined, callsOn: () => 0 });

  expect(trunks.list()[0]).toMatchObject({ state: 'unregistered', expiresAt: null });
});

test('operatorTrunks lists every number once, and the trunks that bring its calls', () => {
  const trunks = operatorTrunks(TRUNKS, { statusOf: () => undefined, callsOn: () => 0 });

  expect(trunks.numbers).toEqual(['+390612345678', '+39069*', '+390699111111']);
  expect(trunks.trunksOf('+390699111111')).toEqual(['acme', 'other']);
});

test('operatorTrunks keeps a trunk in view whose password was forgotten, with its user name', () => {
  const registry = new TrunkRegistry([]);
  const { name, password: _, ...settings } = SETTINGS[0] ?? {};
  const at = new Date(0);

  const problems = registry.replaceStored([
    { name: name ?? '', settings, password: null, createdAt: at, updatedAt: at },
  ]);

  const trunks = operatorTrunks(registry, { statusOf: () => undefined, callsOn: () => 0 });
  expect(problems).toEqual([]);
  expect(trunks.list()).toMatchObject([
    { name: 'acme', username: 'joe-the-user', hasPassword: false, register: true },
  ]);
});
