/** `sip-config/trunks.schema.json` says the same as the validator of trunks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultsOfTrunk } from '../../src/telephony/trunks/trunks.ts';
import { faultsOf } from '../support/api/json-schema.ts';
import type { Description, JsonSchema } from '../support/api/openapi-description.ts';

const FOLDER = join(import.meta.dirname, '../../sip-config');

const SCHEMA: JsonSchema = JSON.parse(readFileSync(join(FOLDER, 'trunks.schema.json'), 'utf8'));

/** Nothing in the schema refers to anything. */
const NO_DESCRIPTION = {} as Description;

function bySchema(trunk: unknown): boolean {
  return faultsOf([trunk], SCHEMA, NO_DESCRIPTION).length === 0;
}

function byValidator(trunk: object): boolean {
  return faultsOfTrunk(trunk as Readonly<Record<string, unknown>>).length === 0;
}

const EUR = { perMinute: 0.012, currency: 'EUR' } as const;

const inbound = (price: object) => ({ inbound: price });

/** Values of each field, right and wrong ones. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  name: ['acme', 'a.b_c-1', 'a b', '', '.a', 'x'.repeat(64), 'x'.repeat(65), 7],
  proxy: [
    ...['sip.acme.example', '192.0.2.1:5060', '[2001:db8::1]:5061', 'a.example;transport=tcp'],
    ...['sips:a.example:5061', 'sips:a.example;transport=tls', 'sips:a.example;transport=udp'],
    ...['a.example:0', 'a.example:65535', 'a.example:65536', 'a.example:05060', 'sip:a.example'],
    ...['a.example;transport=carrier-pigeon', 'a example', '', null],
  ],
  transport: ['udp', 'tcp', 'tls', 'sctp', 1],
  domain: ['acme.example', 'acme example', ''],
  username: ['joe', '390612345678', 'joe@acme', 'a b', '', 'x'.repeat(256)],
  password: ['secret', '', 'x'.repeat(255), 'x'.repeat(256), 5],
  realm: ['carrier, inc', 'with "quotes"', '', 'a\nb'],
  register: [true, false, 'true'],
  registerExpiresSeconds: [60, 86_400, 59, 86_401, 60.5, '60'],
  optionsIntervalSeconds: [0, 5, 3600, 4, 3601, -1],
  account: ['acct_1', 'the dentist', 'acct_'],
  callerId: ['+390612345678', '0612345678'],
  callerIdHeader: ['pai', 'rpid', 'from', 'p-asserted-identity', ''],
  numbers: [[], ['+390612345678'], ['+39*', '*'], ['0612345678'], '+390612345678'],
  codecs: [['PCMU'], ['PCMA', 'PCMU'], ['opus', 'G722'], ['OPUS'], [], ['G729']],
  srtp: ['off', 'required', 'preferred', 'on', true],
  transfer: ['auto', 'refer', 'bridge', 'both'],
  acceptTransfers: [true, false, 'true', null],
  allowedSources: [[], ['203.0.113.0/24', '2001:db8::/32', '::1'], ['carrier.example'], ['1.2.3']],
  advertisedAddress: ['203.0.113.10', 'phone.example.com', '-a', ''],
  maxCalls: [1, 0, 1.5, 1000, '1'],
  callsPerSecond: [0.1, 1000, 0, 1001],
  price: [
    { inbound: EUR, outbound: { ...EUR, incrementSeconds: 1, connection: 0.05 } },
    ...[{}, { inbound: null }, { outbound: EUR }, null, 0.012, [], { both: EUR }, { inbound: 5 }],
    ...[{ ...EUR, perMinute: 100 }, { ...EUR, perMinute: 101 }, { currency: 'EUR' }].map(inbound),
    ...[{ ...EUR, currency: 'eur' }, { ...EUR, currency: 'EURO' }, { perMinute: 0 }].map(inbound),
    ...[0, 1, 60, 61, 1.5, null].map((seconds) => inbound({ ...EUR, incrementSeconds: seconds })),
    ...[0, 1_000_000, -1, 1_000_001].map((connection) => inbound({ ...EUR, connection })),
    inbound({ ...EUR, colour: 'red' }),
  ],
  colour: ['red'],
};

/** Trunks of a few fields each, most of them right. */
const TRUNKS = fc
  .record(
    Object.fromEntries(
      Object.entries(VALUES).map(([name, [first, ...others]]) => [
        name,
        fc.oneof({ weight: 9, arbitrary: fc.constant(first) }, fc.constantFrom(...others, first)),
      ]),
    ),
    { requiredKeys: ['name', 'proxy'] },
  )
  // A schema cannot compare two fields.
  .filter(({ proxy, transport }) => transport === undefined || !/;|sips:/.test(String(proxy)));

test('trunks.schema.json has every field of the validator, and no other', () => {
  const [items] = [SCHEMA.items];
  const fields = Object.keys(items?.properties ?? {});

  const unknown = fields.filter((field) =>
    faultsOfTrunk({ [field]: null }).some(({ message }) => message === 'unknown field'),
  );

  expect(unknown).toEqual([]);
  expect(
    Object.keys(VALUES)
      .filter((field) => field !== 'colour')
      .sort(),
  ).toEqual(fields.sort());
});

test.each(
  Object.entries(VALUES).flatMap(([field, values]) =>
    values.map((value) => [field, JSON.stringify(value), value] as const),
  ),
)('trunks.schema.json and the validator agree on %s %s', (field, _text, value) => {
  const account = /username|password|register$/.test(field)
    ? { username: 'joe', password: 'secret' }
    : {};
  const trunk = { name: 'acme', proxy: 'sip.acme.example', ...account, [field]: value };

  expect(bySchema(trunk)).toBe(byValidator(trunk));
});

test('trunks.schema.json and the validator agree on whole trunks', () => {
  let right = 0;
  fc.assert(
    fc.property(TRUNKS, (trunk) => {
      const isRight = byValidator(trunk);
      right += Number(isRight);

      expect(bySchema(trunk)).toBe(isRight);
    }),
    { numRuns: 500 },
  );

  expect(right).toBeGreaterThan(10);
});

test.each(['trunks.json', 'trunks.example.json'])('trunks.schema.json takes %s', (file) => {
  const trunks: unknown = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

  expect(faultsOf(trunks, SCHEMA, NO_DESCRIPTION)).toEqual([]);
});
