import { expect, test } from 'vitest';
import { queryOf } from '../../src/api/http/query-text.ts';

test.each([
  ['', {}],
  ['limit=5', { limit: '5' }],
  ['limit=5&offset=&at=12:30', { limit: '5', offset: '', at: '12:30' }],
  ['limit=5&limit=6&status=all', { limit: ['5', '6'], status: 'all' }],
  ['limit', { limit: '' }],
  ['a+b=c%20d+e', { 'a b': 'c d e' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=%zz&b=%E4', { a: '%zz', b: '%E4' }],
  ['&&a=1&', { a: '1' }],
  ['&&=x', { '': 'x' }],
  ['a=1&=', { a: '1', '': '' }],
  ['constructor=1', { constructor: '1' }],
  ['constructor=1&constructor=2', { constructor: ['1', '2'] }],
  ['a=1#b=2', { a: '1' }],
  ['%5F_proto__=1', Object.fromEntries([['__proto__', '1']])],
])('queryOf reads %s', (text, query) => {
  const read = queryOf(text);

  expect(Object.entries(read)).toEqual(Object.entries(query));
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
});
