/** Who may send what by the source address alone, and who counts as a stranger. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { SourceAcl, Strangers } from '../../src/telephony/drachtio/carrier/source-acl.ts';
import { TrunkTable } from '../../src/telephony/trunks/trunk-table.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { KeptAnswer, request } from './scripted-srf.ts';

const TELEPHONE = '10.0.0.9';
const STRANGER = '10.0.0.10';

test.each([
  ['SUBSCRIBE', TELEPHONE, 0],
  ['OPTIONS', TELEPHONE, 0],
  ['SUBSCRIBE', STRANGER, 1],
  ['OPTIONS', STRANGER, 1],
])('SourceAcl refuses %s of %s, and counts %i as of a stranger', (method, source, counted) => {
  const parts = { clock: new FakeClock(), log: silentLogger };
  const phones = { serves: (address: string) => address === TELEPHONE };
  const strangers = new Strangers({ ...parts, isKnown: phones.serves, isPolite: true });
  const acl = new SourceAcl({
    ...{ ...parts, phones, strangers, table: new TrunkTable([]) },
    mayRing: () => false,
  });
  const answer = new KeptAnswer();

  const asked = { ...request({ method }), source_address: source };
  if (method === 'OPTIONS') acl.answerOptions(asked, answer);
  else acl.refuseOther(asked, answer);

  expect(answer.sent?.status).toBe(403);
  expect(strangers.counts.private).toBe(counted);
  acl.stop();
});

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
    { count: 1, sources: 1, busiest: [{ sourceAddress: '203.0.114.9', count: 1 }] },
    {
      count: 3,
      sources: 3,
      busiest: [
        { sourceAddress: '203.0.114.9', count: 1 },
        { sourceAddress: '10.0.0.9', count: 1 },
        { sourceAddress: '127.0.0.1', count: 1 },
      ],
    },
  ]);
  expect([strangers.isStranger('192.0.2.1'), strangers.isStranger('10.0.0.9')]).toEqual([
    false,
    true,
  ]);
  strangers.stop();
});

test('Strangers silences a source that has had its refusals, until the next ten seconds', () => {
  const clock = new FakeClock();
  const log = { warn: () => undefined } as never;
  const strangers = new Strangers({ isKnown: () => false, isPolite: true, clock, log });
  const refused = (source: string) => {
    const isRefused = !strangers.isSilenced(source);
    strangers.count(source);
    return isRefused;
  };

  const answers = Array.from({ length: 12 }, () => refused('203.0.114.9'));
  const another = refused('203.0.114.10');
  clock.advance(10_000);

  expect(answers.filter(Boolean)).toHaveLength(10);
  expect(another).toBe(true);
  expect(refused('203.0.114.9')).toBe(true);
  strangers.stop();
});

test('Strangers refuses no more than a thousand sources in ten seconds', () => {
  const clock = new FakeClock();
  const log = { warn: () => undefined } as never;
  const strangers = new Strangers({ isKnown: () => false, isPolite: true, clock, log });

  for (let host = 0; host < 1000; host += 1) strangers.count(`198.18.${host >> 8}.${host & 255}`);

  expect(strangers.isSilenced('203.0.114.9')).toBe(true);
  expect(strangers.isSilenced('198.18.0.1')).toBe(false);
  strangers.stop();
});

test('Strangers that are to get no answer are silenced from the first request on', () => {
  const log = { warn: () => undefined } as never;
  const isKnown = (source: string) => source === '192.0.2.1';
  const strangers = new Strangers({ isKnown, isPolite: false, clock: new FakeClock(), log });

  expect(strangers.isSilenced('203.0.114.9')).toBe(true);
  expect(strangers.isSilenced('192.0.2.1')).toBe(false);
});
