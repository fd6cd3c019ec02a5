import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasMoreCommasThan, isDeeperThan } from '../../src/api/http/json-bounds.ts';
import { openTestApi } from '../support/api/test-api.ts';
import { fastestCpuMs } from '../support/time/cpu-time.ts';

const MEBIBYTE = 1024 * 1024;

test.each([
  ['1', 0, false],
  ['[]', 0, true],
  ['[]', 1, false],
  ['[[],[],{}]', 2, false],
  ['[[],[],{"a":[]}]', 2, true],
  ['"[[[["', 0, false],
  ['"\\"[[[["', 0, false],
  ['{"a\\\\":[1]}', 1, true],
  ['["[', 1, false],
  [']]]]', 0, false],
])('isDeeperThan of %s and %d is %s', (text, depthMax, expected) => {
  expect(isDeeperThan(text, depthMax)).toBe(expected);
});

test('isDeeperThan agrees with the parsed value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, depthMax) => {
      expect(isDeeperThan(JSON.stringify(value, null, 1), depthMax)).toBe(
        depthOf(value) > depthMax,
      );
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['brackets', '['.repeat(MEBIBYTE)],
  ['one string', `"${'x'.repeat(MEBIBYTE - 2)}"`],
  ['empty objects', `[${'{},'.repeat(MEBIBYTE / 3 - 2)}{}]`],
])('isDeeperThan looks through a mebibyte of %s in less than 20 ms', (_case, text) => {
  expect(fastestCpuMs(() => isDeeperThan(text, 32))).toBeLessThan(20);
});

test.each([
  ['[]', 0, false],
  ['[1,2]', 0, true],
  ['[1,2]', 1, false],
  ['{"a":1,"b":[2,3]}', 1, true],
  ['{"a":1,"b":[2,3]}', 2, false],
  ['",,,,"', 0, false],
  ['["\\",",",2]', 1, false],
  ['",', 0, false],
])('hasMoreCommasThan of %s and %d is %s', (text, commasMax, expected) => {
  expect(hasMoreCommasThan(text, commasMax)).toBe(expected);
});

test.each([
  ['keys', `{${'"abcdefghij":1,'.repeat(70_000)}"a":1}`],
  ['commas in one string', `"${','.repeat(MEBIBYTE - 2)}"`],
  [
    'short strings with commas',
    `[${'"a,,,,,,,,,",'.repeat(2000)}1${' '.repeat(MEBIBYTE - 30_000)}]`,
  ],
])('hasMoreCommasThan looks through a mebibyte of %s in less than 20 ms', (_case, text) => {
  expect(fastestCpuMs(() => hasMoreCommasThan(text, 2000))).toBeLessThan(20);
});

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), 0]));

test.each([
  ['80,000 keys of metadata', '/api/calls/outbound', { metadata: keys(80_000) }],
  ['60,000 unknown fields', '/api/agents', keys(60_000)],
  ['80,000 tools', '/api/agents', { tools: Array<string>(80_000).fill('end_call') }],
])('A body with %s is refused before it is parsed', async (_case, path, body) => {
  const api = await openTestApi();

  const answer = await api.json('POST', path, { body });

  expect([answer.status, answer.body.error.message]).toEqual([
    400,
    'Cannot read the body: expected 2000 fields and list items at most',
  ]);
});

test.each([
  ['lists', '['.repeat(33) + ']'.repeat(33)],
  ['objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['a mebibyte of brackets', '['.repeat(MEBIBYTE)],
])('A body of %s that is nested too deep is refused before it is parsed', async (_case, text) => {
  const api = await openTestApi();

  const { status, body } = await api.json('POST', '/api/agents', { text });

  expect([status, body.error.message]).toEqual([
    400,
    'Cannot read the body: expected JSON that is nested 32 deep at most',
  ]);
});

test('A body that is nested 32 deep is read, and refused only for what it says', async () => {
  const api = await openTestApi();
  const text = '['.repeat(32) + ']'.repeat(32);

  const { body } = await api.json('POST', '/api/agents', { text });

  expect(body.error.message).toContain('must be an object');
});

test('A body of a request without a key is not looked at', async () => {
  const api = await openTestApi();

  const { status } = await api.json('POST', '/api/agents', { key: null, text: '['.repeat(99) });

  expect(status).toBe(401);
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
