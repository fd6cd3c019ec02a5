import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAllowedUserAgent } from '../../src/sip/parser/request-check.ts';
import { request } from './messages.ts';

const DRACHTIO = join(import.meta.dirname, '../../sip-config/drachtio.conf.xml');

/** Names that drachtio-server is told to discard. */
function discarded(): readonly string[] {
  const [, spammers = ''] = readFileSync(DRACHTIO, 'utf8').split(/<\/?spammers[^>]*>/);
  return [...spammers.matchAll(/<value>([^<]+)</g)].map(([, name = '']) => name);
}

test('isNoScanner knows the same names as our settings of drachtio-server', () => {
  const names = discarded();

  expect(names.length).toBeGreaterThan(3);
  expect(
    names.filter((name) => isAllowedUserAgent(request('OPTIONS', { 'User-Agent': `${name}/1.0` }))),
  ).toEqual([]);
});

test.each([
  undefined,
  'baresip v1.0',
  'my-sip-client/2',
  'PolycomVVX',
])('isNoScanner lets %s in', (agent) => {
  expect(
    isAllowedUserAgent(request('OPTIONS', agent === undefined ? {} : { 'User-Agent': agent })),
  ).toBe(true);
});
