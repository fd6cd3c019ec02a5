import { expect, test } from 'vitest';
import { Strangers } from '../../src/telephony/trunks/strangers.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

test('Strangers counts by network, and logs a flood once in ten seconds', () => {
  const clock = new FakeClock();
  const lines: object[] = [];
  const log = { warn: (fields: object) => lines.push(fields) } as never;
  const strangers = new Strangers({ isKnown: (source) => source === '192.0.2.1', clock, log });

  for (const source of ['203.0.114.9', '203.0.114.9', '10.0.0.9', '127.0.0.1']) {
    strangers.count(source);
  }
  clock.advance(10_000);

  expect(strangers.counts).toEqual({ public: 2, private: 1, loopback: 1, never: 0 });
  expect(lines).toEqual([
    { sourceAddress: '203.0.114.9', count: 1 },
    { sourceAddress: '203.0.114.9', count: 3 },
  ]);
  expect([strangers.isStranger('192.0.2.1'), strangers.isStranger('10.0.0.9')]).toEqual([
    false,
    true,
  ]);
  strangers.stop();
});
