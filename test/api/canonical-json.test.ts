import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/api/http/answer-once.ts';

test.each([
  ['{"b":1,"a":2}', '{"a":2,"b":1}'],
  ['{ "a" : [ 1 , { "d" : null , "c" : true } ] }', '{"a":[1,{"c":true,"d":null}]}'],
  ['[2,1]', '[2,1]'],
  ['"\\u0061"', '"a"'],
  ['1.0', '1'],
  ['1e2', '100'],
  ['{}', '{}'],
  ['{"__proto__":1,"A":2}', '{"A":2,"__proto__":1}'],
])('canonicalJson of %s', (text, expected) => {
  expect(canonicalJson(JSON.parse(text))).toBe(expected);
});

test('canonicalJson says the same of values that differ in the order of their fields only', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);

      expect(text).toBe(canonicalJson(reversed(value)));
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 500 },
  );
});

/** The same value, every object's fields in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, reversed(item)]);
  return Object.fromEntries(entries.reverse());
}
