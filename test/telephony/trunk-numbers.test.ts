import { expect, test } from 'vitest';
import { TrunkNumbers } from '../../src/telephony/trunks/trunk-table.ts';

const TRUNKS = [
  { name: 'b', numbers: ['+390612345678', '+39061*'] },
  { name: 'a', numbers: ['*', '+390612345678'] },
  { name: 'c', numbers: ['+390698765432', '+390698765432'] },
];

test('TrunkNumbers has every number once, sorted', () => {
  expect(new TrunkNumbers(TRUNKS).all).toEqual(['*', '+39061*', '+390612345678', '+390698765432']);
});

test.each([
  ['+390612345678', ['b', 'a']],
  ['+390611111111', ['b', 'a']],
  ['+390698765432', ['a', 'c']],
  ['+441234567890', ['a']],
  ['+39061*', ['b', 'a']],
  ['+390611*', ['b', 'a']],
  ['+39*', ['a']],
  ['*', ['a']],
])('TrunkNumbers finds the trunks of %s, in the order of the file', (number, names) => {
  expect(new TrunkNumbers(TRUNKS).trunksOf(number)).toEqual(names);
});

test.each([
  ['+390612345678', null],
  ['+441234567890', 'acct_2'],
])('TrunkNumbers knows the account of %s: that of the first trunk with it', (number, account) => {
  const [first, second = { name: 'a', numbers: [] }] = TRUNKS;
  const trunks = [...(first ? [first] : []), { ...second, account: 'acct_2' }];

  expect(new TrunkNumbers(trunks).accountOf(number)).toBe(account);
});

test('TrunkNumbers knows no account of a number that no trunk has', () => {
  expect(new TrunkNumbers(TRUNKS.slice(2)).accountOf('+441234567890')).toBeUndefined();
});

test('TrunkNumbers finds among the trunks that it was given last', () => {
  const numbers = new TrunkNumbers(TRUNKS);
  const { accountOf, trunksOf } = numbers;

  numbers.useTrunks([{ name: 'd', numbers: ['+441234567890'], account: 'acct_2' }]);

  expect(numbers.all).toEqual(['+441234567890']);
  expect([trunksOf('+390612345678'), trunksOf('+441234567890')]).toEqual([[], ['d']]);
  expect(accountOf('+441234567890')).toBe('acct_2');
});

test('TrunkNumbers of no trunks has nothing', () => {
  const numbers = new TrunkNumbers([]);

  expect([numbers.all, numbers.trunksOf('+390612345678')]).toEqual([[], []]);
});

test('TrunkNumbers of ten thousand numbers finds 500 of them within a few milliseconds', () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => `+3906${10_000_000 + index}`);
  const found = new TrunkNumbers([{ name: 'a', numbers }]);
  const before = process.cpuUsage();

  for (const number of numbers.slice(0, 500)) found.trunksOf(number);

  expect(process.cpuUsage(before).user / 1000).toBeLessThan(50);
});
