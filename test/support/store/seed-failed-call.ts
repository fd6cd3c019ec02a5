/** A call that failed, with one timeline entry of every kind that sessions, analyses and messages write. */

import { failureBecause } from '../../../src/call/session/end-reason.ts';
import type { TimelineEntry } from '../../../src/domain/call/call.ts';
import type { TestServer } from '../server/server.ts';
import { buildCall } from './build-call.ts';
import { inStore } from './seed-calls.ts';

const MINUTE_MS = 60_000;

/** Kinds with their details, in the order of the entries. */
export const EVERY_ENTRY: readonly (readonly [string, TimelineEntry['details']])[] = [
  ['ringing', {}],
  ['answered', {}],
  ['answered_by', { answeredBy: 'machine', sign: 'long_talk', afterMs: 2100 }],
  [
    'turn',
    {
      ...{ turn: 1, endOfTurnMs: 250.4, textFinalMs: 60.1, firstTokenMs: 110.7 },
      ...{ firstClauseMs: 140, firstAudioMs: 80.5, firstPacketMs: 20, speculated: true },
      ...{ filler: true, keyed: true },
    },
  ],
  ['barge_in', {}],
  ['digit', {}],
  ['knowledge', { sources: [{ document: 'preise.pdf', version: 2, passage: 5 }] }],
  ['tool', { name: 'end_call', outcome: 'done', tookMs: 12.5 }],
  [
    'tool',
    {
      name: 'order_status',
      outcome: 'refused',
      tookMs: 8000,
      problem: 'no answer within 8 seconds',
    },
  ],
  ['transfer_failed', { reason: 'Cannot transfer the call: a transfer is in progress' }],
  ['far_end_transfer_failed', { reason: 'its country may not be called' }],
  ['far_end_transfer', { method: 'replaces' }],
  ['three_way', {}],
  ['three_way_ended', { reason: 'the other party has hung up' }],
  ['transfer', {}],
  ['bridge_ended', { reason: 'the other party has hung up', isCallerBack: true }],
  ['bridge_ended', { reason: 'the first party has hung up' }],
  [
    'message',
    { messageId: 'sms_1', status: 'failed', gateway: 'seven', reason: 'the gateway answered 402' },
  ],
  [
    'recording_failed',
    { reason: 'the disk is too slow', recordingTruncated: true, recordedMs: 5000 },
  ],
  [
    'ended',
    {
      ...{ endReason: 'error', answeredAt: new Date(0).toISOString(), answeredBy: 'machine' },
      ...{ failureReason: 'The conversation could not go on: no audio comes from the far end.' },
      sipStatus: null,
    },
  ],
  ['analysis', { by: 'model', failedTries: 1, notExtracted: 'the language model does not answer' }],
];

/** @returns the call's id. */
export async function seedFailedCall(server: TestServer, agentId: string): Promise<string> {
  const id = 'call_seededFailed';
  const startedAt = new Date(Date.now() - 60 * MINUTE_MS);
  await inStore(server, async (store, accountId) => {
    const call = buildCall({
      ...{ id, accountId, agentId, status: 'failed', endReason: 'error', durationSeconds: 60 },
      ...{ createdAt: startedAt, startedAt, answeredAt: startedAt, answeredBy: 'machine' },
      endedAt: new Date(startedAt.getTime() + MINUTE_MS),
      failureReason: failureBecause(
        'The conversation could not go on: no audio comes from the far end.',
      ).reason,
      ...{ sentiment: 'negative', intentDetected: 'complaint' },
    });
    await store.calls.insert(call, []);
    for (const [index, [kind, details]] of EVERY_ENTRY.entries()) {
      const at = new Date(startedAt.getTime() + index * 1000);
      await store.calls.addTimelineEntry(id, { at, kind, details });
    }
  });
  return id;
}
