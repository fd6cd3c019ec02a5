import { expect, test } from 'vitest';
import {
  isServerList,
  parseServers,
  placeOf,
  WeightedTurns,
} from '../../src/telephony/trunks/server-list.ts';

test('parseServers reads host, port and weight, and fills in what is not said', () => {
  const servers = parseServers('10.0.0.1:9000*3, sip.example ,[::1]:9001', 9022);

  expect(servers).toEqual([
    { host: '10.0.0.1', port: 9000, weight: 3 },
    { host: 'sip.example', port: 9022, weight: 1 },
    { host: '::1', port: 9001, weight: 1 },
  ]);
  expect(servers.map(placeOf)).toEqual(['10.0.0.1:9000', 'sip.example:9022', '[::1]:9001']);
});

test.each([
  '',
  'a,,b',
  'a b',
  'a:0',
  'a:65536',
  'a*0',
  'a*1000',
  'a:1*',
  Array(33).fill('a').join(','),
])('isServerList refuses "%s"', (text) => {
  expect(isServerList(text)).toBe(false);
});

test('WeightedTurns deals out by weight, spread evenly', () => {
  const turns = new WeightedTurns([
    { server: 'a', weight: 3 },
    { server: 'b', weight: 1 },
  ]);

  const dealt = Array.from({ length: 8 }, () => turns.next(() => true)).join('');

  expect(dealt).toBe('aabaaaba');
});

test('WeightedTurns skips unhealthy servers, and has no server when all are unhealthy', () => {
  const turns = new WeightedTurns([
    { server: 'a', weight: 3 },
    { server: 'b', weight: 1 },
  ]);

  expect([turns.next((name) => name === 'b'), turns.next((name) => name === 'b')]).toEqual([
    'b',
    'b',
  ]);
  expect(turns.next(() => false)).toBeUndefined();
});
