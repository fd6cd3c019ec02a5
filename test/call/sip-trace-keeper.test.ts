/** When the SIP messages of a call are kept, and what is shown of them before, after, and without. */
import { expect, test } from 'vitest';
import { SipTraceKeeper } from '../../src/call/session/sip-trace-keeper.ts';
import { engineTraces } from '../../src/compose/sip.ts';
import type { Call } from '../../src/domain/call/call.ts';
import { StoreError } from '../../src/domain/service-error.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { CallTraces } from '../../src/sip/call-traces.ts';
import { FakeFlow, request } from '../sip/messages.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore, STORE_NOW_MS } from '../support/store/test-store.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

async function openKeeper(fields: { readonly isRemote?: boolean } = {}) {
  const store = await openTestStore();
  const clock = new FakeClock(STORE_NOW_MS);
  const traces = new CallTraces({ clock });
  const { calls, sipTraces } = store;
  const keeper = new SipTraceKeeper({
    ...{ calls, sipTraces, clock, isRemote: false, log: silentLogger },
    traces: engineTraces(traces),
    ...fields,
  });
  const flow = new FakeFlow();
  const comes = (method: string, callId = 'sid-1') =>
    traces.received(request(method, { 'Call-ID': callId }), flow);
  const goes = (startLine: string, cseq: string, callId = 'sid-1') =>
    traces.sent(Buffer.from(`${startLine}\r\nCall-ID: ${callId}\r\nCSeq: ${cseq}\r\n\r\n`), flow);
  const ends = async (callId = 'call_1', carrierCallSid = 'sid-1') => {
    const call = buildCall({ id: callId, carrierCallSid, status: 'completed' });
    await store.calls.insert(call, []);
    await keeper.callOver(callId);
    return call;
  };
  const kept = async (callId = 'call_1') =>
    (await store.sipTraces.find(callId))?.messages.length ?? 0;
  return { store, clock, traces, keeper, comes, goes, ends, kept };
}

test('SipTraceKeeper shows the messages of a call that goes on, without credentials', async () => {
  const { keeper, comes, goes } = await openKeeper();
  const call = buildCall({ carrierCallSid: 'sid-1', status: 'in_progress' });
  comes('INVITE');
  goes('SIP/2.0 200 OK', '1 INVITE');

  const trace = await keeper.of(call);

  expect(trace).toMatchObject({ source: 'engine', note: null, isTruncated: false });
  expect(trace.messages).toMatchObject([
    { direction: 'in', transport: 'UDP', from: '192.0.2.1:5060', to: '192.0.2.2:5060' },
    { direction: 'out', transport: 'UDP', from: '192.0.2.2:5060', to: '192.0.2.1:5060' },
  ]);
  expect(trace.messages[0]?.text).toMatch(/^INVITE sip:agent@192\.0\.2\.2 SIP\/2\.0\r\n/);
});

test('SipTraceKeeper shows when messages came by the calendar, which was set since the server started', async () => {
  const { clock, keeper, comes } = await openKeeper();
  clock.setCalendar(-3_600_000);
  comes('INVITE');

  const trace = await keeper.of(buildCall({ carrierCallSid: 'sid-1', status: 'in_progress' }));

  expect(trace.messages).toMatchObject([{ at: new Date(STORE_NOW_MS - 3_600_000) }]);
});

test('SipTraceKeeper keeps the messages once none has come for 5 s, those after the end among them', async () => {
  const { clock, traces, keeper, comes, goes, ends, kept } = await openKeeper();
  comes('INVITE');
  goes('BYE sip:a@b SIP/2.0', '2 BYE');
  const call = await ends();

  await clock.pass(4000);
  goes('BYE sip:a@b SIP/2.0', '2 BYE');
  await clock.pass(4000);
  const early = await kept();
  await clock.pass(2000);

  expect([early, await kept()]).toEqual([0, 3]);
  expect(traces.size).toBe(0);
  expect(clock.waiting).toBe(0);
  expect((await keeper.of(call)).messages).toHaveLength(3);
});

test('SipTraceKeeper waits no longer than 35 s for a peer that never stops retransmitting', async () => {
  const { clock, comes, ends, kept } = await openKeeper();
  comes('INVITE');
  await ends();

  for (let second = 0; second < 40; second++) {
    comes('BYE');
    await clock.pass(1000);
  }

  expect(await kept()).toBeGreaterThan(30);
  expect(clock.waiting).toBe(0);
});

test('SipTraceKeeper keeps calls that end together in one write', async () => {
  const { store, clock, comes, ends, kept } = await openKeeper();
  let writes = 0;
  const keep = store.sipTraces.keep.bind(store.sipTraces);
  store.sipTraces.keep = async (traces) => {
    writes += 1;
    await keep(traces);
  };
  for (const index of [1, 2, 3]) {
    comes('INVITE', `sid-${index}`);
    await ends(`call_${index}`, `sid-${index}`);
  }

  await clock.pass(10_000);

  expect([writes, await kept('call_1'), await kept('call_2'), await kept('call_3')]).toEqual([
    1, 1, 1, 1,
  ]);
});

test('SipTraceKeeper keeps many calls a few at a time, so that conversations get their turn in between', async () => {
  const { store, clock, traces, comes, ends } = await openKeeper();
  const writes: { readonly calls: number; readonly atMs: number }[] = [];
  const keep = store.sipTraces.keep.bind(store.sipTraces);
  store.sipTraces.keep = async (kept) => {
    writes.push({ calls: kept.length, atMs: clock.nowMs() });
    await keep(kept);
  };
  for (let index = 1; index <= 25; index += 1) {
    comes('INVITE', `sid-${index}`);
    await ends(`call_${index}`, `sid-${index}`);
  }

  await clock.pass(10_000);

  expect(writes.map(({ calls }) => calls)).toEqual([10, 10, 5]);
  expect(new Set(writes.map(({ atMs }) => atMs)).size).toBe(3);
  expect([traces.size, clock.waiting]).toEqual([0, 0]);
});

test('SipTraceKeeper keeps what there is when the server stops, once', async () => {
  const { clock, keeper, comes, ends, kept } = await openKeeper();
  comes('INVITE');
  await ends();

  await keeper.stop();
  await keeper.stop();

  expect(await kept()).toBe(1);
  expect(clock.waiting).toBe(0);
});

test('SipTraceKeeper tries again while the disk is full, and gives up after two minutes', async () => {
  const { store, clock, traces, comes, ends, kept } = await openKeeper();
  const { sipTraces } = store;
  const keep = sipTraces.keep.bind(sipTraces);
  const fails = () => {
    throw new StoreError('Cannot use the database "x": the disk is full', 'full');
  };
  sipTraces.keep = fails;
  comes('INVITE');
  await ends();
  comes('INVITE', 'sid-2');

  await clock.pass(20_000);
  sipTraces.keep = keep;
  await clock.pass(1000);
  const second = await kept();
  sipTraces.keep = fails;
  await ends('call_2', 'sid-2');
  await clock.pass(125_000);

  expect([second, traces.size, clock.waiting]).toEqual([1, 0, 0]);
});

test('SipTraceKeeper never throws at the end of a call', async () => {
  const { store, keeper, comes } = await openKeeper();
  comes('INVITE');
  store.calls.findById = () => {
    throw new StoreError('Cannot use the database "x": the disk is full', 'full');
  };

  await keeper.callOver('call_1');
});

test.each<[string, Partial<Call>, boolean, string]>([
  ['was not dialled yet', { carrierCallSid: null }, false, 'The call was not dialled'],
  ['was simulated', { environment: 'test' }, false, 'simulated'],
  ['a drachtio server has carried', {}, true, 'drachtio'],
  ['is long over', {}, false, '30 days'],
])('SipTraceKeeper says why there is nothing of a call that %s', async (_case, fields, isRemote, words) => {
  const { keeper } = await openKeeper({ isRemote });

  const trace = await keeper.of(buildCall({ carrierCallSid: 'sid-9', ...fields }));

  expect(trace).toMatchObject({ messages: [], source: 'none', isTruncated: false });
  expect(trace.note).toContain(words);
});
