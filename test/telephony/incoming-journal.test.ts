/** What is on disk of a call that comes in, from the moment in which its caller is told that it is answered. */
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import type { DialogStore, OpenInvite } from '../../src/domain/call/open-dialog.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import {
  openSrf,
  type SrfClient,
  type SrfRequestOptions,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfIncomingCall } from '../../src/telephony/drachtio/leg/incoming-call.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { startSilentPlane } from './embedded-plane.ts';
import { OURS, trunkTo } from './plane.ts';
import { KeptAnswer, PlainEndpoint, request, ScriptedDialog, settle } from './scripted-srf.ts';
import { dialogsInMemory } from './support/dialogs-in-memory.ts';

const PARTS = { clock: new FakeClock(), log: silentLogger };

const PRICE = { perMinute: 0.004, currency: 'EUR', incrementSeconds: 1, connection: 0 };

const PHONE = {
  name: 'front-desk',
  password: 'its-password',
  algorithm: 'MD5',
  allowedSources: ['192.0.2.1'],
} as const;

const INVITE = {
  'Call-ID': 'call-1',
  From: '<sip:+15550100001@192.0.2.1>;tag=theirs',
  To: '<sip:+390612345678@192.0.2.9>',
  Contact: '"Bob <b>" <sip:bob@192.0.2.1:5062;transport=tcp>;expires=60',
  'Record-Route': '<sip:192.0.2.5;lr>, <sip:192.0.2.6;lr>',
};

function ring(
  store: DialogStore,
  createUAS: SrfClient['createUAS'],
  journal = new OpenDialogJournal({ ...PARTS, store, orphans: [] }),
  from: Pick<ConstructorParameters<typeof SrfIncomingCall>[0], 'trunk' | 'phone'> = {
    trunk: undefined,
  },
) {
  return new SrfIncomingCall({
    srf: Object.assign(openSrf(), { createUAS }),
    server: 'sip',
    ...{
      request: request({ headers: INVITE, body: 'offer' }),
      answer: new KeptAnswer(),
      ...from,
    },
    media: {
      start: async () => undefined,
      stop: async () => undefined,
      open: async () => new PlainEndpoint(),
    },
    ...{ ...PARTS, journal, onOver: () => undefined },
  });
}

test('SrfIncomingCall is written down before its 200 leaves, so that the next process can say BYE', async () => {
  const { store } = dialogsInMemory();
  const toHeaders: (string | undefined)[] = [];
  const call = ring(store, (_request, _answer, { headers }) => void toHeaders.push(headers.To));

  void call.answer().catch(() => undefined);
  await settle();
  const byes: [string, SrfRequestOptions][] = [];
  const next = Object.assign(openSrf(), {
    request: (uri: string, options: SrfRequestOptions) => void byes.push([uri, options]),
  });
  const endInvite = () => Promise.reject(new Error('Cannot end: it has been answered'));
  new OpenDialogJournal({ ...PARTS, store, orphans: await store.all() }).connected({
    name: 'sip',
    srf: next,
    endInvite,
  });

  expect(toHeaders).toEqual([
    expect.stringMatching(/^<sip:\+390612345678@192\.0\.2\.9>;tag=\w{16}$/),
  ]);
  expect(byes).toMatchObject([
    [
      'sip:bob@192.0.2.1:5062;transport=tcp',
      {
        method: 'BYE',
        headers: {
          'Call-ID': 'call-1',
          From: toHeaders[0],
          To: INVITE.From,
          Route: '<sip:192.0.2.5;lr>, <sip:192.0.2.6;lr>',
        },
      },
    ],
  ]);
});

test('SrfIncomingCall is written down before its sound is set up, so that the next process can refuse it', async () => {
  const { store } = dialogsInMemory();
  const call = ring(store, () => undefined);

  void call.answer().catch(() => undefined);
  const ended: unknown[] = [];
  const endInvite = async (invite: unknown) => void ended.push(invite);
  const next = { name: 'sip', srf: openSrf(), endInvite };
  new OpenDialogJournal({ ...PARTS, store, orphans: await store.all() }).connected(next);

  expect(ended).toEqual([
    {
      direction: 'in',
      server: 'sip',
      transactionId: 'transaction-1',
      head: expect.stringMatching(/Call-ID: call-1\r\n.*\r\nContent-Length: 0\r\n\r\n$/s),
      peer: { protocol: 'UDP', address: '127.0.0.1', port: 5060 },
    },
  ]);
});

test('SrfIncomingCall whose SIP server is lost is refused when it is back', async () => {
  const { store, kept } = dialogsInMemory();
  const journal = new OpenDialogJournal({ ...PARTS, store, orphans: await store.all() });
  const call = ring(store, () => undefined, journal);
  void call.answer().catch(() => undefined);
  const ended: unknown[] = [];
  const endInvite = async (invite: OpenInvite) => void ended.push(invite.transactionId);

  call.lost();
  const before = [...ended];
  journal.connected({ name: 'sip', srf: openSrf(), endInvite });
  await settle();

  expect([before, ended]).toEqual([[], ['transaction-1']]);
  expect(kept.size).toBe(0);
});

test.each([
  ['over UDP with its source', 'udp', { protocol: 'UDP', address: '192.0.2.7', port: 40_001 }],
  [
    'over a connection with the port that it listens on',
    'tcp',
    { protocol: 'TCP', address: '192.0.2.7', port: 5062 },
  ],
  ['over the WebSocket of a browser without an address', 'wss', null],
])('OpenDialogJournal keeps a caller %s', async (_case, protocol, peer) => {
  const { kept, store } = dialogsInMemory();
  const journal = new OpenDialogJournal({ ...PARTS, store, orphans: [] });
  const source = { protocol, source_address: '192.0.2.7', source_port: 40_001 };
  const invite = {
    ...request({ headers: { ...INVITE, Contact: '<sip:bob@pbx:5062>' } }),
    ...source,
  };

  await journal.expect(invite, { localTag: 'ours', channels: [] }).saved;

  expect([...kept.values()].map((open) => open.peer)).toEqual([peer]);
});

test('SrfIncomingCall whose answer is refused is not kept', async () => {
  const { kept, writes, store } = dialogsInMemory();
  const call = ring(store, (_request, _answer, _parts, done) => done('no transport'));

  await call.answer().catch(() => undefined);

  expect(writes).toEqual(['save', 'save', 'remove']);
  expect(kept.size).toBe(0);
});

test.each([
  ['of a trunk with a price', undefined, PRICE],
  ['of a telephone of ours, for which no carrier charges', PHONE, null],
])('SrfIncomingCall %s is written with what the carrier charges', async (_case, phone, price) => {
  const { kept, store } = dialogsInMemory();
  const trunk = trunkTo('192.0.2.1:5060', { price: { inbound: PRICE } });
  const dialog = new ScriptedDialog();
  const createUAS: SrfClient['createUAS'] = (_request, _answer, _parts, done) => done(null, dialog);
  const call = ring(store, createUAS, undefined, { trunk, phone });

  const answered = call.answer();
  await settle();
  dialog.receive('ack');
  const leg = await answered;

  expect([...kept.values()].map((open) => open.price)).toEqual([price]);
  expect(leg.price ?? null).toEqual(price);
});

test('SrfIncomingCall is kept under the tag of a server that has chosen its own', async () => {
  const { kept, store } = dialogsInMemory();
  const dialog = new ScriptedDialog();
  const call = ring(store, (_request, _answer, _parts, done) => done(null, dialog));

  const answered = call.answer();
  await settle();
  dialog.receive('ack');
  await answered;

  expect([...kept.keys()]).toEqual(['call-1;ours']);
});

test('SrfIncomingCall is written as it rings and at its answer, under the tag that the caller sees', async () => {
  const { kept, writes, store } = dialogsInMemory();
  const { rings, hostPort, stop } = await startSilentPlane(
    [],
    new OpenDialogJournal({ ...PARTS, store, orphans: await store.all() }),
  );
  const phone = new Phone();
  await phone.start();
  onTestFinished(async () => {
    await phone.stop();
    await stop();
  });

  const dialled = phone.call(`sip:${OURS}@${hostPort}`);
  await (await rings.next()).answer();
  const call = await dialled;
  const during = [[...writes], [...kept.keys()]];
  await call.hangUp();

  expect(during).toEqual([
    ['save', 'save'],
    [`${call.dialog.data.callId};${call.dialog.data.remoteTag}`],
  ]);
  await expect.poll(() => writes).toEqual(['save', 'save', 'remove']);
});
