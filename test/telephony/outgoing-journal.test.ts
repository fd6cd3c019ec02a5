/** What is on disk of a call that goes out, from its INVITE to its answer or refusal. */
import { expect, test } from 'vitest';
import type { OpenInvite } from '../../src/domain/call/open-dialog.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import {
  openSrf,
  type SrfCallback,
  type SrfClient,
  type SrfDialog,
  type SrfSentInvite,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfOutgoingCall } from '../../src/telephony/drachtio/leg/outgoing-call.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';
import { PlainEndpoint, request, response, ScriptedDialog, settle } from './scripted-srf.ts';
import { dialogsInMemory } from './support/dialogs-in-memory.ts';

const PARTS = { clock: new FakeClock(), log: silentLogger };

const PRICE = { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 };

const SENT = {
  'Call-ID': 'call-1',
  From: `<sip:${OURS}@192.0.2.9>;tag=ours`,
  To: `<sip:${THEIRS}@192.0.2.1>`,
  CSeq: '1 INVITE',
};

/** A call whose INVITE has gone out; `answer` is what comes of it. */
async function callOut() {
  const { store, kept, writes } = dialogsInMemory();
  const journal = new OpenDialogJournal({ ...PARTS, store, orphans: [] });
  let answer: SrfCallback<SrfDialog> = () => undefined;
  const createUAC: SrfClient['createUAC'] = (_uri, _options, { cbRequest }, callback) => {
    answer = callback;
    const nothing = () => undefined;
    const sent: SrfSentInvite = {
      ...request({ headers: SENT }),
      ...{ on: nothing, removeAllListeners: nothing, cancel: nothing },
    };
    cbRequest(null, sent);
  };
  const call = new SrfOutgoingCall({
    ...{ ...PARTS, srf: Object.assign(openSrf(), { createUAC }), journal },
    ...{ server: 'sip by a', isReportedByEngine: false, answerChallenge: undefined },
    trunk: trunkTo('192.0.2.1:5060', { price: { outbound: PRICE } }),
    ...{ from: OURS, to: THEIRS, callId: 'call-1' },
    media: {
      start: async () => undefined,
      stop: async () => undefined,
      open: async () => new PlainEndpoint(),
    },
    ...{ ringingTimeoutMs: 60_000, onOver: () => undefined },
  });
  await settle();
  const ended: string[] = [];
  const endInvite = async ({ transactionId }: OpenInvite) => void ended.push(transactionId);
  const serverIsBack = (name: string) => journal.connected({ name, srf: openSrf(), endInvite });
  return {
    call,
    kept,
    writes,
    ended,
    serverIsBack,
    answer: (...what: Parameters<typeof answer>) => answer(...what),
  };
}

test('SrfOutgoingCall is written down as its INVITE goes out, so that the next process can cancel it', async () => {
  const { kept } = await callOut();

  expect([...kept.values()]).toMatchObject([
    {
      id: 'call-1;ours',
      localParty: SENT.From,
      remoteParty: SENT.To,
      invite: { direction: 'out', server: 'sip by a', transactionId: 'transaction-1' },
    },
  ]);
});

test('SrfOutgoingCall that is refused is forgotten', async () => {
  const { call, kept, answer } = await callOut();

  answer(new Error('busy'));
  await call.answered.catch(() => undefined);

  expect(kept.size).toBe(0);
});

test('SrfOutgoingCall is kept as a dialog once it is answered', async () => {
  const { call, kept, answer } = await callOut();

  const headers = { 'Content-Type': 'application/sdp' };
  const res = response(200, { headers, body: 'their answer' });
  answer(null, Object.assign(new ScriptedDialog(), { type: 'uac' as const, res }));
  await settle();

  expect([...kept.values()]).toMatchObject([{ id: 'call-1;ours', invite: null, price: PRICE }]);
  expect((await call.answered).price).toEqual(PRICE);
});

test('SrfOutgoingCall whose SIP server is lost is cancelled when that one is back', async () => {
  const { call, kept, ended, serverIsBack } = await callOut();

  call.lost('the server hangs');
  const reason = await call.answered.catch((error: unknown) => error);
  serverIsBack('sip by another');
  const before = [...ended];
  serverIsBack('sip by a');
  await settle();

  expect(reason).toMatchObject({ sipStatus: 503 });
  expect([before, ended]).toEqual([[], ['transaction-1']]);
  expect(kept.size).toBe(0);
});
