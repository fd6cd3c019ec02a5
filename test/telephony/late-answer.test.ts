/** A call of ours that is answered after we had given it up. */
import { expect, test } from 'vitest';
import { TRANSACTION_MS } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { SrfClient, SrfDialog } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfOutgoingCall } from '../../src/telephony/drachtio/leg/outgoing-call.ts';
import type { MediaGateway } from '../../src/telephony/media-gateway.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';
import { PlainEndpoint, ScriptedDialog, settle } from './scripted-srf.ts';

test('SrfOutgoingCall hangs up a dialog that comes after the time limit', async () => {
  const clock = new FakeClock();
  let answer: ((error: unknown, dialog?: SrfDialog) => void) | undefined;
  const srf = {
    createUAC: (_uri: string, _parts: object, _progress: object, callback: typeof answer) => {
      answer = callback;
    },
    removeDialog: () => undefined,
  } as unknown as SrfClient;
  const media: MediaGateway = {
    ...{ start: async () => undefined, stop: async () => undefined },
    open: async () => new PlainEndpoint(),
  };
  const call = new SrfOutgoingCall({
    ...{ srf, media, clock, log: silentLogger, trunk: trunkTo('192.0.2.1') },
    ...{ from: OURS, to: THEIRS, callId: 'call_1', ringingTimeoutMs: 60_000 },
    ...{ server: '127.0.0.1:9022', isReportedByEngine: false },
    ...{ journal: undefined, answerChallenge: () => undefined, onOver: () => undefined },
  });
  await settle();
  clock.advance(60_000);
  clock.advance(TRANSACTION_MS);
  await expect(call.answered).rejects.toThrow('cancelled');

  const dialog = new ScriptedDialog();
  answer?.(null, dialog);
  await settle();

  expect(dialog.sent.map(({ method }) => method)).toEqual(['BYE']);
});
