/** A trunk between its form and the API, and what each carrier begins with. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Trunk } from '../../src/dashboard/api-types.ts';
import {
  bodyOf,
  changesOf,
  draftOf,
  NEW_TRUNK,
  numbersOf,
} from '../../src/dashboard/trunks/trunk-draft.ts';
import {
  draftOfPreset,
  neededFields,
  PRESETS,
  presetAt,
} from '../../src/dashboard/trunks/wizard-steps.ts';

const TRUNK: Trunk = {
  ...{ name: 'acme', source: 'api', state: 'ready', detail: 'registered', expiresAt: null },
  ...{ proxy: 'sip.example.com', domain: null, transport: 'udp', username: 'joe' },
  ...{ hasPassword: true, realm: null, register: true, registerExpiresSeconds: 300 },
  ...{ optionsIntervalSeconds: 30, numbers: ['+12025550123'], callerId: null },
  ...{ callerIdHeader: 'pai', account: null, allowedSources: ['203.0.113.0/24'] },
  ...{ codecs: ['PCMU', 'PCMA'], srtp: 'off', transfer: 'auto', maxCalls: 4 },
  ...{
    acceptTransfers: true,
    callsPerSecond: null,
    advertisedAddress: null,
    callsInProgress: 0,
    callsMax: 4,
  },
  price: null,
  addressInUse: { address: null, source: 'local' },
};

test('a form becomes a trunk: lists by line, comma or space, empty fields left out', () => {
  const body = bodyOf({
    ...NEW_TRUNK,
    name: ' acme ',
    proxy: ' sip.example.com:5061 ',
    username: 'joe',
    password: ' a b ',
    register: 'true',
    numbers: '+12025550123, +12025550124\n\n+1202555013*',
    callsPerSecond: '0.5',
  });

  expect(body).toEqual({
    ...{ name: 'acme', proxy: 'sip.example.com:5061', transport: 'udp', username: 'joe' },
    ...{ password: ' a b ', register: true, srtp: 'off', transfer: 'auto' },
    acceptTransfers: false,
    numbers: ['+12025550123', '+12025550124', '+1202555013*'],
    allowedSources: [],
    codecs: ['PCMU', 'PCMA'],
    callsPerSecond: 0.5,
  });
});

test('only what differs is sent, what was emptied as null, and never the stored password', () => {
  const begun = draftOf(TRUNK);

  expect(begun.password).toBe('');
  expect(changesOf(begun, begun)).toEqual({});
  expect(
    changesOf({ ...begun, maxCalls: '', username: '', srtp: 'required', callerId: '+1202' }, begun),
  ).toEqual({ maxCalls: null, username: null, srtp: 'required', callerId: '+1202' });
  expect(changesOf({ ...begun, password: 'new' }, begun)).toEqual({ password: 'new' });
  expect(changesOf({ ...begun, acceptTransfers: 'false' }, begun)).toEqual({
    acceptTransfers: false,
  });
});

const { price: NO_PRICE } = NEW_TRUNK;

const EUR = { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 };

test.each<[string, Partial<Record<'inbound' | 'outbound', object>>, unknown]>([
  ['nothing', {}, undefined],
  ['a currency alone, which is no price', { inbound: { currency: 'EUR' } }, undefined],
  [
    'a price for nothing',
    { outbound: { perMinute: '0', currency: ' eur ' } },
    { inbound: null, outbound: { perMinute: 0, currency: 'EUR' } },
  ],
  [
    'all of it',
    {
      inbound: { perMinute: '0.004', currency: 'CHF', incrementSeconds: '1', connection: '0.05' },
      outbound: { perMinute: '0.012', currency: 'EUR' },
    },
    {
      inbound: { perMinute: 0.004, currency: 'CHF', incrementSeconds: 1, connection: 0.05 },
      outbound: { perMinute: 0.012, currency: 'EUR' },
    },
  ],
  [
    'a price of a call without one of a minute, which the server refuses',
    { inbound: { connection: '0.05' } },
    { inbound: { connection: 0.05, currency: '' }, outbound: null },
  ],
])('a form whose price has %s is sent as the API has it', (_case, { inbound, outbound }, price) => {
  const draft = {
    inbound: { ...NO_PRICE.inbound, ...inbound },
    outbound: { ...NO_PRICE.outbound, ...outbound },
  };

  expect(bodyOf({ ...NEW_TRUNK, price: draft }).price).toEqual(price);
});

test('a price that is emptied is taken away, and one that stays is not sent', () => {
  const begun = draftOf({ ...TRUNK, price: { inbound: null, outbound: EUR } });

  const changed = (texts: object) =>
    changesOf(
      { ...begun, price: { ...begun.price, outbound: { ...begun.price.outbound, ...texts } } },
      begun,
    );

  expect(begun.price.outbound).toMatchObject({ perMinute: '0.012', incrementSeconds: '60' });
  expect(changesOf(begun, begun)).toEqual({});
  expect(changed({ perMinute: '', connection: '' })).toEqual({ price: null });
  expect(changed({ perMinute: '0.02' })).toEqual({
    price: { inbound: null, outbound: { ...EUR, perMinute: 0.02 } },
  });
});

test('every preset can be chosen, and brings nothing that is an example', () => {
  const files = globSync('sip-config/presets/*.json').map((file) =>
    file.replace(/.*\/(.*)\.json/, '$1'),
  );
  expect(Object.keys(PRESETS).sort()).toEqual(files.sort());

  for (const preset of files) {
    const file = readFileSync(`sip-config/presets/${preset}.json`, 'utf8');
    const draft = draftOfPreset(preset);
    const text = JSON.stringify(draft);
    expect(text, preset).not.toMatch(/YOUR-|198\.51\.100|203\.0\.113|192\.168|\$\{|\+\d/);
    expect(draft.name).toBe(JSON.parse(file).name);
    expect([draft.username, draft.password, draft.numbers]).toEqual(['', '', '']);
  }
  expect(draftOfPreset('twilio').allowedSources.split('\n')).toContain('54.172.60.0/30');
  expect(draftOfPreset('sipgate')).toMatchObject({ register: 'true', codecs: 'PCMA' });
  expect(draftOfPreset('')).toEqual(NEW_TRUNK);
});

test('numbersOf leaves out beginnings of numbers, and counts each number once', () => {
  expect(numbersOf('+12025550123\n+1202555013* , +12025550124 +12025550123\n12')).toEqual([
    '+12025550123',
    '+12025550124',
  ]);
});

test.each([
  ['', ['proxy', 'transport', 'register', 'username', 'password', 'allowedSources']],
  ['twilio', ['proxy', 'username', 'password']],
  ['sipgate', ['username', 'password']],
  ['vonage', ['username', 'password', 'allowedSources']],
  ['3cx', ['proxy', 'username', 'password', 'allowedSources']],
  ['plain-ip', ['proxy', 'domain', 'allowedSources']],
])('neededFields(%o) are those that its preset does not have', (preset, fields) => {
  expect(neededFields(preset)).toEqual(fields);
});

test.each([
  ['acme.pstn.twilio.com', 'twilio'],
  ['sipconnect.sipgate.de', 'sipgate'],
  ['sip.example.com', ''],
  ['192.168.1.20:5060', ''],
])('presetAt(%o) is %o', (proxy, preset) => {
  expect(presetAt(proxy)).toBe(preset);
});
