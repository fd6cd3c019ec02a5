import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type KeptSipTrace, SIP_TRACES_KEPT_MS } from '../../src/domain/call/sip-trace.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore, STORE_NOW_MS, type TestStore } from '../support/store/test-store.ts';

function traceOf(fields: Partial<KeptSipTrace> = {}): KeptSipTrace {
  return {
    callId: 'call_1',
    messages: [
      {
        at: new Date(STORE_NOW_MS + 5),
        direction: 'in',
        transport: 'UDP',
        from: '192.0.2.1:5060',
        to: '192.0.2.2:5060',
        text: 'INVITE sip:a@b SIP/2.0\r\nSubject: "ü\u0000"\r\n\r\n',
      },
    ],
    isTruncated: true,
    keptAt: new Date(STORE_NOW_MS),
    ...fields,
  };
}

async function openWithCalls(...ids: readonly string[]): Promise<TestStore> {
  const store = await openTestStore();
  for (const id of ids) await store.calls.insert(buildCall({ id, status: 'completed' }), []);
  return store;
}

test('SipTraceStore gives back what it keeps', async () => {
  const store = await openWithCalls('call_1');
  const { callId, keptAt, ...trace } = traceOf();

  await store.sipTraces.keep([{ ...trace, callId, keptAt }]);

  expect(await store.sipTraces.find('call_1')).toEqual(trace);
  expect(await store.sipTraces.find('call_2')).toBeUndefined();
});

test('SipTraceStore replaces what it has of a call', async () => {
  const store = await openWithCalls('call_1');
  await store.sipTraces.keep([traceOf()]);

  await store.sipTraces.keep([traceOf({ messages: [], isTruncated: false })]);

  expect(await store.sipTraces.find('call_1')).toEqual({ messages: [], isTruncated: false });
});

test('SipTraceStore leaves out calls that there are no more, and keeps the others', async () => {
  const store = await openWithCalls('call_2');

  await store.sipTraces.keep([traceOf(), traceOf({ callId: 'call_2' })]);

  expect(await store.sipTraces.find('call_1')).toBeUndefined();
  expect(await store.sipTraces.find('call_2')).toBeDefined();
});

test('SipTraceStore loses the messages of a call that is erased', async () => {
  const store = await openWithCalls('call_1');
  await store.sipTraces.keep([traceOf()]);

  const sqlite = new Sqlite(store.file);
  sqlite.pragma('foreign_keys=ON');
  sqlite.exec(`delete from calls where id = 'call_1'`);
  sqlite.close();

  expect(await store.sipTraces.find('call_1')).toBeUndefined();
});

test('Retention erases SIP messages after 30 days, and not the call', async () => {
  const store = await openWithCalls('call_1', 'call_2');
  const later = new Date(STORE_NOW_MS + 1);
  await store.sipTraces.keep([traceOf(), traceOf({ callId: 'call_2', keptAt: later })]);

  const early = await store.retention.prune(new Date(STORE_NOW_MS + SIP_TRACES_KEPT_MS));
  const due = await store.retention.prune(new Date(STORE_NOW_MS + SIP_TRACES_KEPT_MS + 1));

  expect([early, due]).toEqual([0, 1]);
  expect(await store.sipTraces.find('call_1')).toBeUndefined();
  expect(await store.sipTraces.find('call_2')).toBeDefined();
  expect(await store.calls.findById('call_1')).toBeDefined();
});
