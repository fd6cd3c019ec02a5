import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfOutgoingCall } from '../../src/telephony/drachtio/leg/outgoing-call.ts';
import type { MediaGateway } from '../../src/telephony/media-gateway.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { COLLEAGUE, openLeg, openPair, ScriptedSecond } from './scripted-pair.ts';
import { PlainEndpoint, response, ScriptedDialog, settle } from './scripted-srf.ts';

test('SrfLeg places no second call when REFER is refused after the call is over', async () => {
  const refusal = Promise.withResolvers<number>();
  const dialog = new ScriptedDialog(async ({ method }) =>
    response(method === 'REFER' ? await refusal.promise : 200),
  );
  const seconds: ScriptedSecond[] = [];
  const callSecond = () => {
    const second = new ScriptedSecond();
    seconds.push(second);
    return second;
  };
  const { leg } = openLeg({ dialog, callSecond });
  const outcome = leg.transfer(COLLEAGUE).catch((error: unknown) => error);
  await settle();
  dialog.receive('destroy');
  await settle();

  refusal.resolve(487);

  expect(await outcome).toMatchObject({ sipStatus: expect.any(Number) });
  await settle();
  expect(seconds).toEqual([]);
});

test('SrfLeg does not join the second party when it answers while our BYE is under way', async () => {
  const bye = Promise.withResolvers<void>();
  const dialog = new ScriptedDialog(async ({ method }) => {
    if (method === 'BYE') await bye.promise;
    return response(200);
  });
  const second = new ScriptedSecond();
  const { leg, causes } = openLeg({ dialog, transferBy: 'bridge', callSecond: () => second });
  const other = openLeg({}, () => 200);
  const outcome = leg.transfer(COLLEAGUE).then(
    () => 'transferred',
    () => 'failed',
  );
  await settle();
  void leg.hangUp();
  await settle();

  second.answer.resolve(other.leg);
  await settle();
  bye.resolve();

  expect(await outcome).toBe('failed');
  await settle();
  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test('SrfLeg joins no lines after a transfer that failed during its announcement', async () => {
  const { first, other, seconds } = openPair();
  const announcement = async function* (): AsyncGenerator<Int16Array> {};
  const outcome = first.leg.transfer(COLLEAGUE, { announcement }).catch((error: unknown) => error);
  seconds[0]?.answer.resolve(other.leg);
  await settle();
  other.dialog.receive('destroy');
  await outcome;

  for (const elapsedMs of [2_000, 20_000]) {
    first.clock.advance(elapsedMs);
    other.clock.advance(elapsedMs);
    await settle();
  }

  expect(first.endpoint.session.source).toBeUndefined();
});

test('SrfOutgoingCall closes the port of a call that failed while it was being opened', async () => {
  const opened = Promise.withResolvers<PlainEndpoint>();
  const endpoint = new PlainEndpoint();
  const trunks = parseTrunks(
    JSON.stringify([{ name: 'acme', proxy: '127.0.0.1:5060', numbers: ['+390612345678'] }]),
  );
  const [trunk] = trunks;
  if (trunk === undefined) throw new Error('there is no trunk');
  const media: Pick<MediaGateway, 'open'> = { open: () => opened.promise };
  const call = new SrfOutgoingCall({
    ...{ srf: openSrf(), media: media as MediaGateway, trunk, callId: 'one' },
    ...{ from: '+390612345678', to: COLLEAGUE, ringingTimeoutMs: 1_000 },
    ...{ clock: new FakeClock(), log: silentLogger, onOver: () => undefined },
    ...{ answerChallenge: undefined, journal: undefined, server: 'sip', isReportedByEngine: false },
  });
  const outcome = call.answered.catch((error: unknown) => error);

  call.fail('the connection is lost', 503);
  opened.resolve(endpoint);

  expect(await outcome).toMatchObject({ sipStatus: 503 });
  await settle();
  expect(endpoint.isClosed).toBe(true);
});
