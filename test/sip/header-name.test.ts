/** Names of headers: their long form, and that knowing them keeps nothing of the messages they came in. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { canonicalName } from '../../src/sip/message/grammar.ts';

test.each([
  ['v', 'via'],
  ['VIA', 'via'],
  ['X-Correlation-ID', 'x-correlation-id'],
  ['x', 'session-expires'],
  ['\u0156ia', '\u0157ia'],
])('canonicalName knows %s as %s, also the second time', (name, expected) => {
  const names = [canonicalName(name), canonicalName(name)];

  expect(names).toEqual([expected, expected]);
});

test('canonicalName keeps nothing of the text that a name was cut from', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const padding = Buffer.alloc(60_000, 'x').toString('latin1');
  collect();
  const before = process.memoryUsage().heapUsed;

  for (let index = 0; index < 400; index++) {
    const head = Buffer.from(`x-invented-name-${index}: ${padding}`).toString('latin1');
    canonicalName(head.slice(0, head.indexOf(':')));
  }

  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 1024 * 1024);
});
