/** What is kept of the messages of calls, and what makes room for what. */
import { describe, expect, test } from 'vitest';
import {
  CallTraces,
  MESSAGE_BYTES_KEPT,
  TRACE_MESSAGES_MAX,
  type TracedMessage,
} from '../../src/sip/call-traces.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request } from './messages.ts';

const START_MS = 1_000_000;

const HOUR_MS = 3_600_000;

function openTraces() {
  const clock = new FakeClock(START_MS);
  const traces = new CallTraces({ clock });
  const flow = new FakeFlow();
  const comes = (method: string, callId = 'call-1', headers = {}) =>
    traces.received(request(method, { 'Call-ID': callId, ...headers }), flow);
  const goes = (startLine: string, callId = 'call-1', cseq = '1 INVITE', body = '') =>
    traces.sent(
      Buffer.from(`${startLine}\r\nCall-ID: ${callId}\r\nCSeq: ${cseq}\r\n\r\n${body}`),
      flow,
    );
  const answered = (callId: string) => {
    comes('INVITE', callId);
    goes('SIP/2.0 200 OK', callId);
  };
  return { clock, traces, flow, comes, goes, answered };
}

function startLinesOf(traces: CallTraces, callId = 'call-1'): string[] {
  return (traces.get(callId)?.messages ?? []).map(startLineOf);
}

function startLineOf({ wire }: TracedMessage): string {
  return wire.toString().split('\r\n', 1)[0] ?? '';
}

describe('CallTraces', () => {
  test('keeps what comes and goes of a call, in order, with time and places', () => {
    const { clock, traces, flow, comes, goes } = openTraces();

    comes('INVITE');
    clock.advance(5);
    goes('SIP/2.0 100 Trying');
    goes('SIP/2.0 200 OK');
    comes('ACK');
    goes('BYE sip:caller@192.0.2.1 SIP/2.0', 'call-1', '2 BYE');

    expect(startLinesOf(traces)).toEqual([
      'INVITE sip:agent@192.0.2.2 SIP/2.0',
      'SIP/2.0 100 Trying',
      'SIP/2.0 200 OK',
      'ACK sip:agent@192.0.2.2 SIP/2.0',
      'BYE sip:caller@192.0.2.1 SIP/2.0',
    ]);
    const { remote, local } = flow;
    const place = { protocol: 'UDP', remote, local };
    expect(traces.get('call-1')?.messages.slice(0, 2)).toMatchObject([
      { ...place, atMs: START_MS, isIncoming: true },
      { ...place, atMs: START_MS + 5, isIncoming: false },
    ]);
    expect(traces.get('call-1')).toMatchObject({ isAnswered: true, isOver: true });
  });

  test('keeps the distance from the calendar that a call began with, though the clock is set meanwhile', () => {
    const { clock, traces, comes, goes } = openTraces();

    clock.setCalendar(HOUR_MS);
    comes('INVITE');
    clock.setCalendar(-3 * HOUR_MS);
    goes('SIP/2.0 200 OK');

    expect(traces.get('call-1')).toMatchObject({ calendarAheadMs: HOUR_MS });
  });

  test.each([
    ['application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', 'Signal=x\r\nDuration=160\r\n'],
    ['application/dtmf-relay', 'Signal= #\r\nDuration= 90', 'Signal= x\r\nDuration= 90'],
    ['application/dtmf-relay', 'Duration=160\r\nSignal=5\r\n', 'Duration=160\r\nSignal=x\r\n'],
    ['application/dtmf-relay', 'Signal=11\r\nDuration=160', 'Signal=x\r\nDuration=160'],
    ['application/dtmf', '7', 'x'],
    ['application/dtmf', '\r\n 7\r\n', '\r\n x\r\n'],
    ['application/dtmf', '10', 'x'],
    ['application/media_control+xml', '7', '7'],
  ])('keeps no telephone key of an INFO with %s and %j', (contentType, body, kept) => {
    const { traces, comes, flow } = openTraces();
    comes('INVITE');

    const head = 'INFO sip:agent@192.0.2.2 SIP/2.0\r\nCall-ID: call-1\r\nCSeq: 2 INFO';
    traces.sent(Buffer.from(`${head}\r\nContent-Type: ${contentType}\r\n\r\n${body}`), flow);

    const [, info] = traces.get('call-1')?.messages ?? [];
    expect(info?.wire.toString().slice(info.wire.indexOf('\r\n\r\n') + 4)).toBe(kept);
  });

  test('begins with INVITE alone: registrations, probes and strays leave nothing', () => {
    const { traces, comes, goes } = openTraces();

    for (const method of ['OPTIONS', 'REGISTER', 'BYE', 'ACK', 'INFO']) comes(method, method);
    goes('REGISTER sip:example.com SIP/2.0', 'r', '1 REGISTER');
    goes('SIP/2.0 481 Gone', 'x', '2 BYE');
    traces.sent(Buffer.from('INVITE sip:a@b SIP/2.0\r\n\r\n'), new FakeFlow());

    expect(traces.size).toBe(0);
  });

  test('tells the calls apart', () => {
    const { traces, comes, goes } = openTraces();

    comes('INVITE', 'call-1');
    goes('INVITE sip:b@example.com SIP/2.0', 'call-2');
    comes('CANCEL', 'call-1');

    expect([startLinesOf(traces, 'call-1').length, startLinesOf(traces, 'call-2').length]).toEqual([
      2, 1,
    ]);
  });

  test('keeps a message of a stream as it came, whatever is done with it afterwards', () => {
    const { traces } = openTraces();
    const invite = request('INVITE');
    invite.wire = undefined;

    traces.received(invite, new FakeFlow('TCP'));
    invite.uri = 'sip:changed@192.0.2.2';
    invite.set('call-id', 'changed');

    expect(startLinesOf(traces)).toEqual(['INVITE sip:agent@192.0.2.2 SIP/2.0']);
  });

  test('keeps the first and the last messages of a call that has many', () => {
    const { traces, comes, answered } = openTraces();
    answered('call-1');
    for (let index = 0; index < 500; index++) comes('INFO', 'call-1', { CSeq: `${index} INFO` });
    comes('BYE');

    const lines = startLinesOf(traces);

    expect(lines).toHaveLength(TRACE_MESSAGES_MAX);
    expect([lines[0], lines.at(-1)].map((line) => line?.split(' ')[0])).toEqual(['INVITE', 'BYE']);
    expect(traces.get('call-1')?.isTruncated).toBe(true);
  });

  test('keeps no more octets of a call than it may, and cuts what is very long', () => {
    const { traces, goes, answered } = openTraces();
    answered('call-1');
    for (let index = 0; index < 50; index++) {
      goes('SIP/2.0 200 OK', 'call-1', '1 INFO', 'x'.repeat(60_000));
    }

    const trace = traces.get('call-1');

    expect(trace?.bytes).toBeLessThanOrEqual(64 * 1024);
    expect(trace?.messages.at(-1)?.wire).toHaveLength(MESSAGE_BYTES_KEPT);
    expect(trace?.isTruncated).toBe(true);
  });

  test('keeps the order where a short message follows one that had no room among the first', () => {
    const { traces, comes, goes, answered } = openTraces();
    answered('call-1');
    for (let index = 0; index < 3; index++) {
      goes('SIP/2.0 200 OK', 'call-1', '1 INFO', 'x'.repeat(60_000));
    }
    comes('BYE');

    const lines = startLinesOf(traces);

    expect(lines.at(-1)).toBe('BYE sip:agent@192.0.2.2 SIP/2.0');
  });

  test('cuts a very long message of a stream as well', () => {
    const { traces } = openTraces();
    const invite = request('INVITE', {
      'X-Long': 'x'.repeat(16_000),
      'X-More': 'y'.repeat(16_000),
    });
    invite.wire = undefined;

    traces.received(invite, new FakeFlow('TCP'));

    expect(traces.get('call-1')?.messages[0]?.wire).toHaveLength(MESSAGE_BYTES_KEPT);
  });

  test('lets a flood of INVITEs push out each other, and no call that was answered', () => {
    const { traces, comes, answered } = openTraces();
    answered('call-1');

    for (let index = 0; index < 5000; index++) comes('INVITE', `flood-${index}`);

    expect(traces.get('call-1')?.messages).toHaveLength(2);
    expect(traces.size).toBeLessThanOrEqual(501);
    expect(traces.get('flood-4999')).toBeDefined();
  });

  test('lets a flood of long INVITEs take no more than a few megabytes', () => {
    const { traces, comes } = openTraces();

    for (let index = 0; index < 1000; index++) {
      for (let again = 0; again < 3; again++) {
        comes('INVITE', `flood-${index}`, { 'X-Long': 'x'.repeat(15_000) });
      }
    }

    const bytes = Array.from({ length: 1000 }, (_, index) => traces.get(`flood-${index}`)?.bytes);
    expect(bytes.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBeLessThan(9 * 1024 * 1024);
    expect(bytes.at(-1)).toBeGreaterThan(0);
  });

  test('holds a thousand answered calls, the newest', () => {
    const { traces, answered } = openTraces();

    for (let index = 0; index < 1100; index++) answered(`call-${index}`);

    expect(traces.size).toBe(1000);
    expect([traces.get('call-99'), traces.get('call-100')?.isAnswered]).toEqual([undefined, true]);
  });

  test.each([
    ['over', 64_000],
    ['unanswered', 300_000],
    ['answered', 5 * HOUR_MS],
  ])('forgets a call that is %s after its time without messages, without a query', (kind, keptMs) => {
    const { clock, traces, comes, answered } = openTraces();
    if (kind === 'unanswered') comes('INVITE');
    else answered('call-1');
    if (kind === 'over') comes('BYE');

    clock.advance(keptMs);
    comes('INVITE', 'other-1');
    const before = traces.get('call-1');
    clock.advance(31_000);
    comes('INVITE', 'other-2');

    expect([before !== undefined, traces.get('call-1')]).toEqual([true, undefined]);
  });

  test('forgets on demand, and makes room by that', () => {
    const { traces, comes, answered } = openTraces();
    answered('call-1');
    comes('INVITE', 'call-2');

    traces.forget('call-1');
    traces.forget('call-2');
    traces.forget('call-3');

    expect(traces.size).toBe(0);
  });
});
