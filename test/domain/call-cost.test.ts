import { expect, test } from 'vitest';
import { amountOf, type CallPrice, costOf, isAmount } from '../../src/domain/call/call-cost.ts';
import { endCall } from '../../src/domain/call/call-life.ts';
import { buildCall } from '../support/store/build-call.ts';

const PRICE: CallPrice = {
  perMinute: 0.012,
  currency: 'EUR',
  incrementSeconds: 60,
  connection: 0,
};

test.each([
  ['by the minute', {}, 0, 0],
  ['by the minute', {}, 1, 12_000],
  ['by the minute', {}, 59, 12_000],
  ['by the minute', {}, 60, 12_000],
  ['by the minute', {}, 61, 24_000],
  ['by the minute', {}, 14_400, 2_880_000],
  ['by the second', { incrementSeconds: 1 }, 1, 200],
  ['by the second', { incrementSeconds: 1 }, 61, 12_200],
  ['by 6 seconds', { incrementSeconds: 6 }, 6, 1200],
  ['by 6 seconds', { incrementSeconds: 6 }, 7, 2400],
  ['by 30 seconds', { incrementSeconds: 30 }, 30, 6000],
  ['by 30 seconds', { incrementSeconds: 30 }, 31, 12_000],
  ['by 7 seconds, which no minute is a multiple of', { incrementSeconds: 7 }, 60, 12_600],
  ['with a connection', { connection: 0.05 }, 0, 50_000],
  ['with a connection', { connection: 0.05 }, 61, 74_000],
  ['for a connection alone', { perMinute: 0, connection: 0.05 }, 600, 50_000],
  ['for nothing', { perMinute: 0 }, 600, 0],
  ['below half a millionth', { perMinute: 0.000_001, incrementSeconds: 1 }, 29, 0],
  ['of half a millionth', { perMinute: 0.000_001, incrementSeconds: 1 }, 30, 1],
  ['of a third of a millionth more', { perMinute: 0.000_02, incrementSeconds: 1 }, 4, 1],
  ['of two thirds of a millionth more', { perMinute: 0.000_02, incrementSeconds: 1 }, 5, 2],
  ['that binary numbers cannot hold', { perMinute: 0.1, connection: 0.2 }, 60, 300_000],
  ['of the dearest minutes of a year', { perMinute: 100 }, 31_536_000, 52_560_000_000_000],
  [
    'beyond exact products',
    { perMinute: 99.999_999, incrementSeconds: 1 },
    2e9,
    3_333_333_300_000_000,
  ],
] as const)('costOf a call %s, %j, over %d s is %d millionths', (_case, fields, seconds, micros) => {
  expect(costOf({ ...PRICE, ...fields }, seconds)).toEqual({ micros, currency: 'EUR' });
});

test.each([
  [0, '0.0000'],
  [1, '0.000001'],
  [30, '0.00003'],
  [33, '0.000033'],
  [100, '0.0001'],
  [24_000, '0.0240'],
  [1_000_000, '1.0000'],
  [12_345_678, '12.345678'],
  [9_007_199_254_740_991, '9007199254.740991'],
])('amountOf %d millionths is %s', (micros, amount) => {
  expect(amountOf({ micros })).toBe(amount);
});

test.each([
  [0, true],
  [0.000_001, true],
  [0.1, true],
  [99.999_999, true],
  [0.000_000_1, false],
  [0.012_345, true],
  [0.012_345_6, false],
])('isAmount of %d is %s', (value, is) => {
  expect(isAmount(value)).toBe(is);
});

test.each([
  [
    'over midnight and the end of a year',
    '2026-12-31T23:59:30.000Z',
    '2027-01-01T00:00:31.000Z',
    24_000,
  ],
  [
    'that ends within the minute that began',
    '2026-11-20T12:00:00.000Z',
    '2026-11-20T12:00:00.001Z',
    12_000,
  ],
  ['that ends as it is answered', '2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.000Z', 0],
  [
    'that the clock ends before its answer',
    '2026-11-20T12:00:00.000Z',
    '2026-11-20T11:00:00.000Z',
    0,
  ],
])('endCall charges a call %s', (_case, answered, ended, micros) => {
  const answeredAt = new Date(answered);
  const call = buildCall({ status: 'in_progress', answeredAt, price: PRICE });

  const over = endCall(call, { endReason: 'user_hangup', endedAt: new Date(ended) });

  expect(over.cost).toEqual({ micros, currency: 'EUR' });
});

test.each([
  ['was never answered', { status: 'ringing', price: PRICE }],
  ['has no price', { status: 'in_progress', answeredAt: new Date('2026-11-20T12:00:00.000Z') }],
] as const)('endCall charges nothing for a call that %s', (_case, fields) => {
  const endedAt = new Date('2026-11-20T12:05:00.000Z');

  const over = endCall(buildCall(fields), { endReason: 'no_answer', endedAt });

  expect(over.cost).toBeNull();
});

test('endCall charges a call that breaks off after its answer', () => {
  const answeredAt = new Date('2026-11-20T12:00:00.000Z');
  const call = buildCall({ status: 'in_progress', answeredAt, price: PRICE });
  const endedAt = new Date('2026-11-20T12:00:10.000Z');

  const over = endCall(call, { endReason: 'error', endedAt });

  expect(over).toMatchObject({ status: 'failed', cost: { micros: 12_000, currency: 'EUR' } });
});
