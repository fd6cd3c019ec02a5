import { expect, test } from 'vitest';
import {
  callEndedEvent,
  callStartedEvent,
  callTranscribedEvent,
} from '../../src/domain/call/call-events.ts';
import { endCall } from '../../src/domain/call/call-life.ts';
import { buildCall } from '../support/store/build-call.ts';

const STAMP = { id: 'evt_1', now: new Date('2026-11-20T12:01:00.500Z') };

test('callStartedEvent has the body of the specification, field by field in its order', () => {
  const call = buildCall({ status: 'in_progress', answeredAt: new Date() });

  const event = callStartedEvent(call, STAMP);

  expect(event).toMatchObject({ id: 'evt_1', kind: 'call.started', callId: 'call_1' });
  expect(event.body).toBe(
    '{"event":"call.started","id":"evt_1","createdAt":"2026-11-20T12:01:00.500Z","data":' +
      '{"callId":"call_1","agentId":"agent_1","direction":"inbound","from":"+390612345678",' +
      '"to":"+15550100001","startedAt":"2026-11-20T12:00:00.000Z","carrierCallSid":"abc@192.0.2.1"}}',
  );
});

test('callEndedEvent has the body of the specification, field by field in its order', () => {
  const call = buildCall({
    status: 'completed',
    answeredAt: new Date('2026-11-20T12:00:03.000Z'),
    endedAt: new Date('2026-11-20T12:01:00.000Z'),
    endReason: 'user_hangup',
    durationSeconds: 57,
  });

  const event = callEndedEvent(call, STAMP);

  expect(event).toMatchObject({ kind: 'call.ended', accountId: 'acct_1', environment: 'live' });
  expect(event.body).toBe(
    '{"event":"call.ended","id":"evt_1","createdAt":"2026-11-20T12:01:00.500Z","data":' +
      '{"callId":"call_1","agentId":"agent_1","direction":"inbound","from":"+390612345678",' +
      '"to":"+15550100001","startedAt":"2026-11-20T12:00:00.000Z",' +
      '"endedAt":"2026-11-20T12:01:00.000Z","durationSeconds":57,"endReason":"user_hangup",' +
      '"carrierCallSid":"abc@192.0.2.1","answeredAt":"2026-11-20T12:00:03.000Z",' +
      '"answeredBy":null,"failureReason":null,"sipStatus":null}}',
  );
});

test('callEndedEvent of a call that was never dialled has strings all the same', () => {
  const queued = buildCall({ status: 'queued', startedAt: null, carrierCallSid: null });
  const endedAt = new Date('2026-11-20T12:01:00.000Z');

  const call = endCall(queued, { endReason: 'error', endedAt });
  const { data } = JSON.parse(callEndedEvent(call, STAMP).body);

  expect(data).toMatchObject({ startedAt: '2026-11-20T12:00:00.000Z', carrierCallSid: '' });
  expect(call.startedAt?.toISOString()).toBe(data.startedAt);
});

test('callEndedEvent refuses a call that has not ended', () => {
  expect(() => callEndedEvent(buildCall(), STAMP)).toThrow('it is ringing');
});

test('callTranscribedEvent says that a recording was cut short, and nothing of it where it was not', () => {
  const facts = { transcript: [], recordingUrl: 'https://voice.example/call_1' };
  const dataOf = (recordingTruncated: boolean) => {
    const call = buildCall({ recordingTruncated });
    return JSON.parse(callTranscribedEvent(call, facts, STAMP).body).data;
  };

  expect(dataOf(true)).toMatchObject({ recordingTruncated: true });
  expect(dataOf(false)).not.toHaveProperty('recordingTruncated');
});
