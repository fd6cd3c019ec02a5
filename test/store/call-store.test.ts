import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { Call } from '../../src/domain/call/call.ts';
import { callEndedEvent, callStartedEvent } from '../../src/domain/call/call-events.ts';
import { endCall, moveCall } from '../../src/domain/call/call-life.ts';
import { buildCall } from '../support/store/build-call.ts';
import { openTestStore } from '../support/store/test-store.ts';

const LIVE: Scope = { accountId: 'acct_1', environment: 'live' };

const NOW = new Date('2026-11-20T12:00:30.000Z');

const answered = moveCall(buildCall(), 'in_progress', { answeredAt: NOW });

const started = callStartedEvent(answered, { id: 'evt_1', now: NOW });

describe('CallStore', () => {
  test('gives back every field as it was saved', async () => {
    const { calls } = await openTestStore();
    const call: Call = buildCall({
      status: 'completed',
      answeredAt: NOW,
      endedAt: new Date('2026-11-20T12:01:00.000Z'),
      endReason: 'transferred',
      durationSeconds: 30,
      recordingFile: 'recordings/call_1.wav',
      summary: 'Asked for the opening hours.',
      sentiment: 'positive',
      sentimentScore: 0.75,
      intentDetected: 'information',
      metadata: { order: 7, nested: { list: [1, null, 'ß'] } },
      overrides: { greeting: 'Hi' },
    });

    await calls.insert(call, []);

    expect(await calls.find(LIVE, 'call_1')).toEqual(call);
    expect(await calls.findById('call_1')).toEqual(call);
  });

  test('finds nothing of another account or environment', async () => {
    const { calls } = await openTestStore();
    await calls.insert(buildCall(), []);

    expect(await calls.find({ ...LIVE, accountId: 'acct_2' }, 'call_1')).toBeUndefined();
    expect(await calls.find({ ...LIVE, environment: 'test' }, 'call_1')).toBeUndefined();
    expect(await calls.find(LIVE, 'call_2')).toBeUndefined();
  });

  test('saves a new state and its events together', async () => {
    const { calls, events } = await openTestStore();
    await calls.insert(buildCall(), []);

    await calls.update(answered, [started]);
    const over = endCall(answered, { endReason: 'user_hangup', endedAt: NOW });
    await calls.update(over, [callEndedEvent(over, { id: 'evt_2', now: NOW })]);

    expect(await calls.find(LIVE, 'call_1')).toEqual(over);
    expect((await events.listByCall('call_1')).map(({ kind }) => kind)).toEqual([
      'call.started',
      'call.ended',
    ]);
    expect((await events.listByCall('call_1'))[0]).toEqual(started);
  });

  test('saves neither when one of the two fails', async () => {
    const { calls, events } = await openTestStore();
    await calls.insert(buildCall(), []);

    await expect(calls.update(answered, [started, started])).rejects.toThrow('UNIQUE');

    expect((await calls.find(LIVE, 'call_1'))?.status).toBe('ringing');
    expect(await events.listByCall('call_1')).toEqual([]);
  });

  test('inserts neither when one of the two fails', async () => {
    const { calls } = await openTestStore();

    await expect(calls.insert(buildCall(), [started, started])).rejects.toThrow('UNIQUE');

    expect(await calls.findById('call_1')).toBeUndefined();
  });

  test('refuses a move that the stored status does not allow', async () => {
    const { calls, events } = await openTestStore();
    await calls.insert(buildCall({ status: 'completed' }), []);

    const revive = () => calls.update(buildCall({ status: 'in_progress' }), [started]);

    await expect(revive()).rejects.toThrow(
      'Cannot save call "call_1" as in_progress: it is completed',
    );
    expect(await events.listByCall('call_1')).toEqual([]);
  });

  test('takes other changes in the same status, also when the call is over', async () => {
    const { calls } = await openTestStore();
    await calls.insert(buildCall({ status: 'completed' }), []);

    await calls.update(buildCall({ status: 'completed', summary: 'Short.' }), []);

    expect((await calls.findById('call_1'))?.summary).toBe('Short.');
  });

  test('refuses to update a call that was never kept', async () => {
    const { calls } = await openTestStore();

    await expect(calls.update(buildCall(), [])).rejects.toThrow('it was never kept');
  });

  test('keeps the transcript in the order of speaking, and the timeline in the order in which it came', async () => {
    const { calls } = await openTestStore();
    await calls.insert(buildCall(), []);
    const said = [
      { role: 'agent', text: 'Hello', at: NOW },
      { role: 'agent', text: 'How are you?', at: NOW },
      { role: 'user', text: 'Hi', at: new Date(NOW.getTime() - 5), confidence: 0.5 },
    ] as const;
    const happened = [
      { at: NOW, kind: 'turn', details: { turn: 1, endOfTurnMs: 220.5 } },
      { at: NOW, kind: 'barge-in', details: {} },
    ];

    for (const entry of said) await calls.addTranscriptEntry('call_1', entry);
    for (const entry of happened) await calls.addTimelineEntry('call_1', entry);

    expect(await calls.transcript('call_1')).toEqual([said[2], said[0], said[1]]);
    expect(await calls.timeline('call_1')).toEqual(happened);
    expect(await calls.transcript('call_2')).toEqual([]);
  });

  test('finds the calls that were left ringing or in progress', async () => {
    const { calls } = await openTestStore();
    const statuses = ['queued', 'ringing', 'in_progress', 'completed', 'failed'] as const;
    for (const status of statuses)
      await calls.insert(buildCall({ id: `call_${status}`, status }), []);

    const unfinished = await calls.findUnfinished();

    expect(unfinished.map(({ status }) => status)).toEqual(['in_progress', 'ringing']);
  });

  test('lists the queued outbound calls in the order in which they were saved', async () => {
    const { calls } = await openTestStore();
    const waiting = { status: 'queued', direction: 'outbound', startedAt: null } as const;
    const add = (id: string, fields: Partial<Call> = {}) =>
      calls.insert(buildCall({ ...waiting, from: `+1555${id}`, id, ...fields }), []);
    for (const id of ['3', '1', '2', '4']) await add(id);
    await add('5', { direction: 'inbound' });
    await add('6', { environment: 'test' });
    await add('7', { status: 'ringing' });

    const parties = await calls.waitingToDial('live', 3);

    const window = { notBeforeAt: null, notAfterAt: null, expiresAt: null };
    const facts = { accountId: 'acct_1', to: '+15550100001', failureReason: null, ...window };
    expect(parties).toEqual(['3', '1', '2'].map((id) => ({ id, from: `+1555${id}`, ...facts })));
  });
});
