import { expect, test } from 'vitest';
import { keptHeaders } from '../../src/webhook/answer.ts';

test('keptHeaders keeps names and values, each value of a header by itself', () => {
  const kept = keptHeaders({ server: 'nginx', via: ['1.1 a', '1.1 b'], age: undefined });

  expect(kept).toEqual([
    { name: 'server', value: 'nginx' },
    { name: 'via', value: '1.1 a' },
    { name: 'via', value: '1.1 b' },
  ]);
});

test.each([
  'Set-Cookie',
  'set-cookie2',
  'Authorization',
  'proxy-authorization',
  'www-authenticate',
  'Proxy-Authenticate',
  'authentication-info',
])('keptHeaders leaves the value of %s out', (name) => {
  expect(keptHeaders({ [name]: 's3cret' })).toEqual([{ name, value: '(left out)' }]);
});

test('keptHeaders keeps a hostile answer small and printable', () => {
  const many = Array.from({ length: 1000 }, (_, at) => [`x-${at}`, 'v'.repeat(10_000)]);

  const kept = keptHeaders({ 'x-a': 'a\u0000b\u001b[31m\ud800', ...Object.fromEntries(many) });

  expect(kept[0]).toEqual({ name: 'x-a', value: 'a\uFFFDb\uFFFD[31m\uFFFD' });
  expect(kept).toHaveLength(40);
  expect(JSON.stringify(kept).length).toBeLessThan(40 * 700);
});
