/** Who may send what by the source address alone, and who counts as a stranger. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { SourceAcl } from '../../src/telephony/drachtio/carrier/source-acl.ts';
import { Strangers } from '../../src/telephony/trunks/strangers.ts';
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
