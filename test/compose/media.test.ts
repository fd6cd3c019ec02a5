import { expect, test } from 'vitest';
import { openMediaSide } from '../../src/compose/media.ts';
import { readConfig } from '../../src/config/config.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

test.each([
  ['33000-33007', '6', [{ pairs: 4, callsMax: 6 }]],
  ['33000-33011', '6', []],
])('openMediaSide with RTP_PORTS=%s and MAX_CALLS=%s warns of %j', (RTP_PORTS, MAX_CALLS, expected) => {
  const warnings: object[] = [];
  const log = { ...silentLogger, warn: (facts: object) => void warnings.push(facts) };

  openMediaSide({ config: readConfig({ RTP_PORTS, MAX_CALLS }), clock: new FakeClock(), log });

  expect(warnings).toEqual(expected);
});
