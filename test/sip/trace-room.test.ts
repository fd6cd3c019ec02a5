/** How much of a call's messages is kept: the values at which something is left out. */
import { expect, test } from 'vitest';
import {
  CallTrace,
  CallTraces,
  MESSAGE_BYTES_KEPT,
  TRACE_MESSAGES_MAX,
} from '../../src/sip/call-traces.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request, responseTo } from './messages.ts';

const KIB = 1024;

/** A trace of messages of these lengths. */
function traceOf(lengths: readonly number[]) {
  const trace = new CallTrace();
  const flow = new FakeFlow();
  lengths.forEach((length, index) => {
    trace.add(Buffer.alloc(length, index), flow, { atMs: index, isIncoming: true });
  });
  return trace;
}

test('CallTrace says how much it may keep', () => {
  expect([TRACE_MESSAGES_MAX, MESSAGE_BYTES_KEPT]).toEqual([100, 16 * KIB]);
});

test.each([
  ['a message as long as may be', [16 * KIB], 16 * KIB, false],
  ['a message that is too long', [16 * KIB + 1], 16 * KIB, true],
  ['as many messages as may be', Array(100).fill(1), 100, false],
  ['one message too many', Array(101).fill(1), 100, true],
  [
    'as many octets as may be',
    [...Array(10).fill(4 * KIB), ...Array(6).fill(4 * KIB)],
    64 * KIB,
    false,
  ],
  [
    'more octets than may be',
    [...Array(10).fill(4 * KIB), ...Array(7).fill(4 * KIB)],
    64 * KIB,
    true,
  ],
])('CallTrace keeps of %s what fits', (_, lengths, bytes, isTruncated) => {
  const trace = traceOf(lengths);

  expect([trace.bytes, trace.isTruncated]).toEqual([bytes, isTruncated]);
});

test('CallTrace keeps the first messages and the last ones', () => {
  const trace = traceOf(Array(150).fill(1));

  const kept = trace.messages.map(({ atMs }) => atMs);
  expect(kept).toEqual([
    ...Array.from({ length: 60 }, (_, index) => index),
    ...Array.from({ length: 40 }, (_, index) => 110 + index),
  ]);
});

function openTraces() {
  const clock = new FakeClock(1_000_000);
  const traces = new CallTraces({ clock });
  const flow = new FakeFlow();
  const comes = (method: string, callId: string) =>
    traces.received(request(method, { 'Call-ID': callId }), flow);
  const goes = (startLine: string, callId: string, cseq: string) =>
    traces.sent(Buffer.from(`${startLine}\r\nCall-ID: ${callId}\r\nCSeq: ${cseq}\r\n\r\n`), flow);
  return { clock, traces, comes, goes, flow };
}

test.each([
  ['a 200 to its INVITE answers it', 'SIP/2.0 200 OK', '1 INVITE', true],
  ['a 200 to something else does not', 'SIP/2.0 200 OK', '1 PRACK', false],
  ['a 180 does not', 'SIP/2.0 180 Ringing', '1 INVITE', false],
  ['a request does not', 'INVITE sip:a@b SIP/2.0', '1 INVITE', false],
])('CallTraces knows when a call is answered: %s', (_, startLine, cseq, isAnswered) => {
  const { traces, comes, goes } = openTraces();
  comes('INVITE', 'call');

  goes(startLine, 'call', cseq);

  expect(traces.get('call')?.isAnswered).toBe(isAnswered);
});

test.each([
  [200, 'INVITE', true],
  [299, 'INVITE', true],
  [199, 'INVITE', false],
  [300, 'INVITE', false],
  [200, 'PRACK', false],
])('CallTraces takes a %d to %s that comes for an answer: %s', (status, method, isAnswered) => {
  const { traces, goes, flow } = openTraces();
  goes('INVITE sip:a@b SIP/2.0', 'call', '1 INVITE');

  traces.received(responseTo(request(method, { 'Call-ID': 'call' }), status), flow);

  expect(traces.get('call')?.isAnswered).toBe(isAnswered);
});

test.each([
  [500, 0],
  [501, 1],
])('CallTraces holds 500 unanswered calls: of %d it drops %d', (count, dropped) => {
  const { traces, comes } = openTraces();

  for (let index = 0; index < count; index++) comes('INVITE', `call-${index}`);

  expect(count - traces.size).toBe(dropped);
  expect(traces.get('call-0') === undefined).toBe(dropped > 0);
});

test('CallTraces looks every half minute for calls that are over, and no sooner', () => {
  const { clock, traces, comes } = openTraces();
  comes('INVITE', 'over');
  comes('BYE', 'over');
  clock.advance(60_000);
  comes('INVITE', 'first');
  clock.advance(29_999);
  comes('INVITE', 'second');
  const early = traces.get('over') !== undefined;

  clock.advance(1);
  comes('INVITE', 'third');

  expect([early, traces.get('over')]).toEqual([true, undefined]);
});
