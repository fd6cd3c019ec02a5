import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RecoveryParts, recoverCalls } from '../../src/call/recovery.ts';
import type { Call } from '../../src/domain/call/call.ts';
import type { OpenDialog, OpenInvite } from '../../src/domain/call/open-dialog.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { readWavHeader, repairWav, wavHeader } from '../../src/media/recording/wav-file.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';

const ANSWERED_AT = new Date('2026-11-20T12:00:05.000Z');

const NOW = new Date('2026-11-20T13:00:00.000Z');

const ANSWERED = { status: 'in_progress', answeredAt: ANSWERED_AT } as const;

function after(answerMs: number): Date {
  return new Date(ANSWERED_AT.getTime() + answerMs);
}

/** A store that a process left in the middle of this call. */
async function openLeft(fields: Partial<Call>): Promise<TestStore> {
  const store = await openTestStore();
  await store.calls.insert(buildCall(fields), []);
  return store;
}

const PRICE = { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0.05 };

/** The SIP dialog of an answered call, as a process wrote it down. */
const DIALOG: OpenDialog = {
  id: 'sid@192.0.2.1;ours',
  sipCallId: 'sid@192.0.2.1',
  localParty: '<sip:+390612345678@192.0.2.1>;tag=ours',
  remoteParty: '<sip:+390698765432@192.0.2.2>;tag=theirs',
  remoteTarget: 'sip:+390698765432@192.0.2.2',
  peer: null,
  routes: [],
  sequence: 0,
  channels: [],
  price: null,
  openedAt: ANSWERED_AT,
  invite: null,
};

/** What a process wrote down before that answer. */
const INVITE: OpenInvite = {
  direction: 'in',
  server: 'sip',
  transactionId: 'transaction-1',
  head: 'INVITE sip:+390612345678@192.0.2.1 SIP/2.0\r\n\r\n',
  peer: { protocol: 'UDP', address: '192.0.2.2', port: 5060 },
};

async function partsOf(store: TestStore): Promise<RecoveryParts> {
  let ids = 0;
  return {
    calls: store.calls,
    dialogs: await store.dialogs.all(),
    recordingPath: (file) => join(store.folder, file),
    repairRecording: repairWav,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}_${ids}`;
    },
    now: NOW,
    log: silentLogger,
  };
}

test('recoverCalls gives a call no recording where its file has no sound', async () => {
  const store = await openLeft({ ...ANSWERED, recordingFile: 'call_1.wav' });
  writeFileSync(join(store.folder, 'call_1.wav'), '');

  await recoverCalls(await partsOf(store));

  expect(await store.calls.findById('call_1')).toMatchObject({
    status: 'failed',
    recordingFile: null,
  });
});

test('recoverCalls ends a call that was ringing, as it began', async () => {
  const store = await openLeft({ status: 'ringing' });

  const count = await recoverCalls(await partsOf(store));

  expect(count).toBe(1);
  expect(await store.calls.findById('call_1')).toMatchObject({
    status: 'failed',
    endReason: 'error',
    durationSeconds: 0,
    endedAt: new Date(STORE_NOW_MS),
  });
});

test('recoverCalls knows that a call was answered that was written down so far only by SIP', async () => {
  const store = await openLeft({ status: 'ringing', carrierCallSid: DIALOG.sipCallId });
  await store.dialogs.save(DIALOG);

  await recoverCalls(await partsOf(store));

  expect(await store.calls.findById('call_1')).toMatchObject({
    status: 'failed',
    endReason: 'error',
    answeredAt: ANSWERED_AT,
    endedAt: ANSWERED_AT,
  });
  expect((await store.events.listByCall('call_1')).map(({ kind }) => kind)).toEqual([
    'call.started',
    'call.ended',
  ]);
});

test.each([
  [
    'is in progress, by the price on its record',
    { ...ANSWERED, price: PRICE },
    [],
    { micros: 50_000 + 24_000, currency: 'EUR' },
  ],
  [
    'was answered, which SIP alone knew, by the price that SIP has written down',
    { status: 'ringing', carrierCallSid: DIALOG.sipCallId },
    [{ ...DIALOG, price: PRICE }],
    { micros: 50_000 + 24_000, currency: 'EUR' },
  ],
  ['rang, for nothing', { status: 'ringing' }, [], null],
  ['has no price, which is not known', ANSWERED, [], null],
] as const)('recoverCalls charges a call that %s', async (_case, fields, dialogs, cost) => {
  const store = await openLeft(fields);
  for (const dialog of dialogs) await store.dialogs.save(dialog);
  const last = { role: 'agent', text: 'One moment.', at: after(60_001) } as const;
  if (dialogs.length > 0 || 'answeredAt' in fields) {
    await store.calls.addTranscriptEntry('call_1', last);
  }

  await recoverCalls(await partsOf(store));

  expect((await store.calls.findById('call_1'))?.cost).toEqual(cost);
});

test.each([
  ['was ringing', { status: 'ringing' }, [], ['ringing', 'ended']],
  [
    'was answered, which SIP alone knew',
    { status: 'ringing', carrierCallSid: 'sid@192.0.2.1' },
    [DIALOG],
    ['ringing', 'answered', 'ended'],
  ],
  [
    'was ringing, as SIP knew',
    { status: 'ringing', carrierCallSid: 'sid@192.0.2.1' },
    [{ ...DIALOG, invite: INVITE }],
    ['ringing', 'ended'],
  ],
  ['was in progress', ANSWERED, [], ['ended']],
] as const)('recoverCalls ends the timeline of a call that %s', async (_, fields, dialogs, kinds) => {
  const store = await openLeft({ startedAt: new Date(STORE_NOW_MS), ...fields });

  await recoverCalls({ ...(await partsOf(store)), dialogs });

  const timeline = await store.calls.timeline('call_1');
  expect(timeline.map(({ kind }) => kind)).toEqual(kinds);
  expect(timeline.at(-1)).toMatchObject({
    at: (await store.calls.findById('call_1'))?.endedAt,
    details: { endReason: 'error' },
  });
});

test('recoverCalls does not take another call’s dialog for the answer of a call', async () => {
  const store = await openLeft({ status: 'ringing', carrierCallSid: 'other@192.0.2.1' });
  await store.dialogs.save(DIALOG);

  await recoverCalls(await partsOf(store));

  expect((await store.calls.findById('call_1'))?.answeredAt).toBeNull();
});

test('recoverCalls tells customers of the end, now', async () => {
  const store = await openLeft(ANSWERED);

  await recoverCalls(await partsOf(store));

  expect(await store.events.listByCall('call_1')).toMatchObject([
    { kind: 'call.ended', createdAt: NOW, id: 'evt_1' },
  ]);
});

test('recoverCalls ends an answered call where its recording ends, and repairs that', async () => {
  const store = await openLeft({ ...ANSWERED, recordingFile: 'call_1.wav' });
  const file = join(store.folder, 'call_1.wav');
  const shape = { channels: 2, rateHz: 8000 };
  // Brought back from a backup, long after the call.
  writeFileSync(file, Buffer.concat([wavHeader(shape, 0), Buffer.alloc(30 * 32_000)]));
  utimesSync(file, NOW, NOW);

  await recoverCalls(await partsOf(store));

  expect(readWavHeader(readFileSync(file))?.dataBytes).toBe(30 * 32_000);
  expect(await store.calls.findById('call_1')).toMatchObject({
    status: 'failed',
    endReason: 'error',
    endedAt: after(30_000),
    durationSeconds: 30,
    recordingFile: 'call_1.wav',
  });
});

test('recoverCalls keeps a recording that cannot be repaired, and ends the call at its last words', async () => {
  const store = await openLeft({ ...ANSWERED, recordingFile: 'call_1.wav' });
  await store.calls.addTranscriptEntry('call_1', { role: 'user', text: 'Hi', at: after(7000) });
  const repairRecording = () => Promise.reject(new Error('the disk fails'));

  await recoverCalls({ ...(await partsOf(store)), repairRecording });

  expect(await store.calls.findById('call_1')).toMatchObject({
    endedAt: after(7000),
    recordingFile: 'call_1.wav',
  });
});

test('recoverCalls ends an answered call without a recording at its last words', async () => {
  const store = await openLeft({
    ...ANSWERED,
    recordingFile: 'never-written.wav',
  });
  await store.calls.addTranscriptEntry('call_1', { role: 'user', text: 'Hi', at: after(7000) });

  await recoverCalls(await partsOf(store));

  expect(await store.calls.findById('call_1')).toMatchObject({
    endedAt: after(7000),
    durationSeconds: 7,
    recordingFile: null,
  });
});

test('recoverCalls never ends a call in the future, whatever the clock was', async () => {
  const store = await openLeft(ANSWERED);
  const tomorrow = new Date(NOW.getTime() + 86_400_000);
  await store.calls.addTranscriptEntry('call_1', { role: 'user', text: 'Hi', at: tomorrow });

  await recoverCalls(await partsOf(store));

  expect(await store.calls.findById('call_1')).toMatchObject({ endedAt: NOW });
});

test('recoverCalls ends every call though a recording cannot be repaired', async () => {
  const store = await openLeft({ status: 'in_progress', recordingFile: 'call_1.wav' });
  await store.calls.insert(buildCall({ id: 'call_2', status: 'ringing' }), []);
  const repairRecording = () => Promise.reject(new Error('the disk fails'));

  const count = await recoverCalls({ ...(await partsOf(store)), repairRecording });

  expect(count).toBe(2);
  expect(await store.calls.findUnfinished()).toEqual([]);
});

test('recoverCalls leaves queued and finished calls alone', async () => {
  const store = await openLeft({ status: 'queued', startedAt: null });
  const over = { status: 'completed', endReason: 'user_hangup', endedAt: ANSWERED_AT } as const;
  await store.calls.insert(buildCall({ id: 'call_2', ...over }), []);

  const count = await recoverCalls(await partsOf(store));

  expect(count).toBe(0);
  expect((await store.calls.findById('call_1'))?.status).toBe('queued');
  expect(await store.events.listByCall('call_2')).toEqual([]);
});
