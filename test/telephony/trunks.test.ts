import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TrunkTable } from '../../src/telephony/trunks/trunk-table.ts';
import { parseTrunks, TrunkSettingsError } from '../../src/telephony/trunks/trunks.ts';

function trunkJson(fields: object): string {
  return JSON.stringify([{ name: 'acme', proxy: 'sip.acme.example', ...fields }]);
}

test('parseTrunks fills in what is not said', () => {
  const [trunk] = parseTrunks(trunkJson({}));

  expect(trunk).toEqual({
    name: 'acme',
    proxy: { host: 'sip.acme.example', port: undefined, transport: 'udp', isSips: false },
    register: false,
    registerExpiresSeconds: 300,
    optionsIntervalSeconds: 30,
    callerIdHeader: 'pai',
    transfer: 'auto',
    acceptTransfers: false,
    numbers: [],
    codecs: ['PCMU', 'PCMA'],
    srtp: 'off',
    allowedSources: [],
  });
});

test.each([
  ['192.0.2.1:5070', { host: '192.0.2.1', port: 5070, transport: 'udp', isSips: false }],
  [
    'sip.acme.example;transport=tcp',
    { host: 'sip.acme.example', port: undefined, transport: 'tcp', isSips: false },
  ],
  [
    '192.0.2.1;transport=tls',
    { host: '192.0.2.1', port: undefined, transport: 'tls', isSips: false },
  ],
  ['sips:a.example:5071', { host: 'a.example', port: 5071, transport: 'tls', isSips: true }],
  [
    'sips:a.example;transport=tls',
    { host: 'a.example', port: undefined, transport: 'tls', isSips: true },
  ],
  [
    '[2001:db8::1]:5060;transport=udp',
    { host: '2001:db8::1', port: 5060, transport: 'udp', isSips: false },
  ],
])('parseTrunks reads the proxy %s', (proxy, expected) => {
  const [trunk] = parseTrunks(trunkJson({ proxy }));

  expect(trunk?.proxy).toEqual(expected);
});

test.each([
  [{ proxy: 'sip:acme.example' }, 'trunk "acme": proxy: expected host, host:port'],
  [{ proxy: 'sips:acme.example;transport=udp' }, 'trunk "acme": proxy: expected host, host:port'],
  [{ srtp: 'maybe' }, 'trunk "acme": srtp: expected required, preferred or off'],
  [{ proxy: 'acme.example:99999' }, 'trunk "acme": proxy: expected a port from 1 to 65535'],
  [{ name: 'a b' }, 'trunk "a b": name: expected letters'],
  [{ name: undefined }, 'trunk number 1: name: '],
  [{ numbers: ['0612345678'] }, 'trunk "acme": numbers.0: expected E.164'],
  [
    { allowedSources: ['203.0.113.0/33'] },
    'trunk "acme": allowedSources.0: expected an IP address',
  ],
  [{ allowedSources: ['203.0.113.0/'] }, 'trunk "acme": allowedSources.0: expected an IP address'],
  [
    { allowedSources: ['carrier.example'] },
    'trunk "acme": allowedSources.0: expected an IP address',
  ],
  [{ codecs: ['G729'] }, 'trunk "acme": codecs.0: expected PCMU, PCMA, G722 or opus'],
  [{ codecs: [] }, 'trunk "acme": codecs: '],
  [{ username: 'joe' }, 'trunk "acme": password: expected a username and a password, or neither'],
  [{ username: 'joe\r\nX: y', password: 'p' }, 'trunk "acme": username: expected'],
  [{ register: true }, 'trunk "acme": register: expected a username and a password'],
  [
    { advertisedAddress: '0.0.0.0' },
    'trunk "acme": advertisedAddress: expected an IPv4 address, a host name, or auto',
  ],
  [{ acceptTransfers: 'refer' }, 'trunk "acme": acceptTransfers: expected true or false'],
  [{ maxCalls: 0 }, 'trunk "acme": maxCalls: '],
  [{ account: 'the dentist' }, 'trunk "acme": account: expected the id of an account'],
  [{ colour: 'red' }, 'trunk "acme": colour: unknown field'],
])('parseTrunks refuses %j by name', (fields, message) => {
  expect(() => parseTrunks(trunkJson(fields))).toThrow(message);
});

test.each([
  ['not JSON', '[{', ': expected a list of trunks as JSON'],
  [
    'a missing comma, with its place',
    '[{"name":"acme"\n"proxy":"a.example"}]',
    ': expected a list of trunks as JSON, wrong at line 2 column 1; see',
  ],
  ['no list', '{}', 'the list of trunks: '],
  [
    'two trunks of one name',
    JSON.stringify([
      { name: 'acme', proxy: 'a.example' },
      { name: 'acme', proxy: 'b.example' },
    ]),
    'trunk "acme": name: another trunk has it already',
  ],
])('parseTrunks refuses %s', (_, json, message) => {
  expect(() => parseTrunks(json)).toThrow(message);
});

test.each([
  '[{"password":"secret"',
  '{}',
  '[{"name":"a","proxy":"a.example"},{"name":"a","proxy":"a.example"}]',
])('parseTrunks names the file where %s stands, and quotes nothing of it', (json) => {
  const read = () => parseTrunks(json, '/etc/trunks.json');

  expect(read).toThrow(/^Cannot use the SIP trunks of "\/etc\/trunks\.json":(?![\s\S]*secret)/);
});

test('parseTrunks throws nothing but TrunkSettingsError, whatever the JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (json) => {
      try {
        parseTrunks(json);
      } catch (error) {
        expect(error).toBeInstanceOf(TrunkSettingsError);
      }
    }),
  );
});

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['192.0.2.1', false],
  ['not an address', false],
])('TrunkTable without trunks, asked whether %s may ring, says %s', (address, isAllowed) => {
  expect(new TrunkTable([]).isAllowed(address)).toBe(isAllowed);
});

test('TrunkTable lets an address of this machine call while there are no trunks, and then only one of a trunk', () => {
  const isOwnAddress = (address: string) => address === '192.0.2.2';
  const table = new TrunkTable([], isOwnAddress);
  const before = ['192.0.2.2', '192.0.2.3'].map((address) => table.isAllowed(address));
  table.useTrunks(parseTrunks(trunkJson({ allowedSources: ['203.0.113.0/24'] })));

  expect(before).toEqual([true, false]);
  expect(table.isAllowed('192.0.2.2')).toBe(false);
});

test.each([
  ['203.0.113.1', true],
  ['203.0.113.254', true],
  ['203.0.114.1', false],
  ['2001:db8::7', true],
  ['2001:db9::7', false],
  ['127.0.0.1', false],
])('TrunkTable with a trunk, asked whether %s may ring, says %s', (address, isAllowed) => {
  const allowedSources = ['203.0.113.0/24', '2001:db8::/32'];

  const table = new TrunkTable(parseTrunks(trunkJson({ allowedSources })));

  expect(table.isAllowed(address)).toBe(isAllowed);
});

test('TrunkTable tells trunks on one address apart by the called number', () => {
  const json = JSON.stringify([
    { name: 'rome', proxy: 'a.example', numbers: ['+3906*'], allowedSources: ['192.0.2.1'] },
    { name: 'milan', proxy: 'a.example', numbers: ['+3902*'], allowedSources: ['192.0.2.1'] },
  ]);

  const table = new TrunkTable(parseTrunks(json));

  expect(table.ofIncoming('192.0.2.1', '+390212345678')?.name).toBe('milan');
  expect(table.ofIncoming('192.0.2.1', '+15551234567')?.name).toBe('rome');
  expect(table.ofIncoming('192.0.2.2', '+390212345678')).toBeUndefined();
});

test('TrunkTable finds the trunk that may call from a number', () => {
  const table = new TrunkTable(parseTrunks(trunkJson({ numbers: ['+390612345678', '+3902*'] })));

  expect(table.ofOutgoing('+390612345678')?.name).toBe('acme');
  expect(table.ofOutgoing('+390212345678')?.name).toBe('acme');
  expect(table.ofOutgoing('+390612345679')).toBeUndefined();
});
