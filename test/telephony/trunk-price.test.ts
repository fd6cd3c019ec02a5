import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultsOfPrice } from '../../src/telephony/trunks/trunk-price.ts';
import { readTrunkSettings } from '../../src/telephony/trunks/trunk-registry.ts';

const EUR = { perMinute: 0.012, currency: 'EUR' };

const AMOUNT = 'expected a number from 0 to 100 with 6 decimals at most';

test.each([
  ['a number', 5, 'price', 'expected an object with inbound, outbound or both'],
  ['a direction that is none', { sideways: EUR }, 'price.sideways', 'unknown field'],
  [
    'a direction that is a number',
    { inbound: 0.012 },
    'price.inbound',
    'expected an object with perMinute and currency, or null',
  ],
  ['no price of a minute', { outbound: { currency: 'EUR' } }, 'price.outbound.perMinute', AMOUNT],
  ['more than 100', { inbound: { ...EUR, perMinute: 101 } }, 'price.inbound.perMinute', AMOUNT],
  ['less than 0', { inbound: { ...EUR, perMinute: -1 } }, 'price.inbound.perMinute', AMOUNT],
  [
    'seven decimals',
    { inbound: { ...EUR, perMinute: 0.000_000_1 } },
    'price.inbound.perMinute',
    AMOUNT,
  ],
  [
    'small letters',
    { inbound: { ...EUR, currency: 'eur' } },
    'price.inbound.currency',
    'expected the three capital letters of a currency (ISO 4217), such as EUR',
  ],
  [
    'an increment over a minute',
    { inbound: { ...EUR, incrementSeconds: 61 } },
    'price.inbound.incrementSeconds',
    'expected a whole number from 1 to 60',
  ],
  [
    'a negative connection',
    { inbound: { ...EUR, connection: -0.01 } },
    'price.inbound.connection',
    'expected a number from 0 to 1000000 with 6 decimals at most',
  ],
  ['another field', { inbound: { ...EUR, tax: 22 } }, 'price.inbound.tax', 'unknown field'],
])('faultsOfPrice names %s', (_case, price, path, message) => {
  expect(faultsOfPrice(price)).toEqual([{ path, message }]);
});

test('faultsOfPrice takes any JSON without throwing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (price) => {
      expect(Array.isArray(faultsOfPrice(price))).toBe(true);
    }),
  );
});

test.each([
  [
    'both directions',
    { inbound: { ...EUR, incrementSeconds: 1, connection: 0.05 }, outbound: EUR },
  ],
  ['one direction', { outbound: EUR }],
  ['a direction that is null', { inbound: null, outbound: EUR }],
] as const)('A trunk whose price has %s shows it with its defaults', (_case, price) => {
  const view = readTrunkSettings({ name: 'acme', proxy: 'sip.acme.example', price });

  expect(view.price).toEqual({
    inbound: 'inbound' in price ? price.inbound : null,
    outbound: { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 },
  });
});

test('A trunk without a price shows null', () => {
  expect(readTrunkSettings({ name: 'acme', proxy: 'sip.acme.example' }).price).toBeNull();
});
