import { expect, test } from 'vitest';
import type { CallSipTrace, SipTraceMessage } from '../../src/domain/call/sip-trace.ts';
import { addKey, FOREIGN_KEY, openTestApi, TEST_KEY } from '../support/api/test-api.ts';
import { buildCall } from '../support/store/build-call.ts';

const PATH = '/api/calls/call_1/sip';

const MESSAGE: SipTraceMessage = {
  at: new Date('2026-11-20T12:00:00.005Z'),
  direction: 'in',
  transport: 'UDP',
  from: '192.0.2.1:5060',
  to: '192.0.2.2:5060',
  text: 'INVITE sip:a@b SIP/2.0\r\nCSeq: 1 INVITE\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n',
};

async function openWith(...messages: readonly SipTraceMessage[]) {
  const ladder: CallSipTrace = { messages, isTruncated: false, source: 'engine', note: null };
  const asked: string[] = [];
  const of = async ({ id }: { readonly id: string }) => {
    asked.push(id);
    return ladder;
  };
  const api = await openTestApi({ callTraces: { of } });
  await api.store.calls.insert(buildCall({ accountId: 'acct_main' }), []);
  return { api, asked };
}

test('GET /api/calls/{callId}/sip answers with the messages of the call', async () => {
  const { api } = await openWith(MESSAGE);

  const { status, body } = await api.json('GET', PATH);

  expect(status).toBe(200);
  expect(body).toEqual({
    messages: [
      {
        ...MESSAGE,
        at: '2026-11-20T12:00:00.005Z',
        startLine: 'INVITE sip:a@b SIP/2.0',
        cseq: '1 INVITE',
        body: 'application/sdp',
      },
    ],
    truncated: false,
    source: 'engine',
    note: null,
  });
});

test.each([
  ['no body', 'SIP/2.0 200 OK\r\nCSeq: 2 BYE\r\n\r\n', { cseq: '2 BYE', body: null }],
  [
    'other spellings',
    'BYE sip:a@b SIP/2.0\r\ncseq : 3 BYE \r\nc:text/plain\r\n\r\nx',
    { cseq: '3 BYE', body: 'text/plain' },
  ],
  [
    'a body that looks like headers',
    'SIP/2.0 200 OK\r\nCSeq: 1 INVITE\r\n\r\nCSeq: 9 X\r\nContent-Type: x\r\n',
    { cseq: '1 INVITE', body: null },
  ],
  ['nothing in it', '', { startLine: '', cseq: '', body: null }],
])('GET /api/calls/{callId}/sip reads a message with %s', async (_case, text, expected) => {
  const { api } = await openWith({ ...MESSAGE, text });

  const { body } = await api.json('GET', PATH);

  expect(body).toMatchObject({ messages: [expected] });
});

test.each([
  ['another account', FOREIGN_KEY],
  ['the other environment', TEST_KEY],
])('GET /api/calls/{callId}/sip answers 404 to %s, and looks for nothing', async (_case, key) => {
  const { api, asked } = await openWith(MESSAGE);

  const answer = await api.json('GET', PATH, { key });

  expect(answer).toMatchObject({ status: 404, body: { error: { code: 'CALL_NOT_FOUND' } } });
  expect(asked).toEqual([]);
});

test('GET /api/calls/{callId}/sip needs calls:read', async () => {
  const key = `svc_live_${'8'.repeat(32)}`;
  const { api } = await openWith(MESSAGE);
  const scopes = ['agents:read', 'calls:write'] as const;
  await addKey(api.store, key, { accountId: 'acct_main', environment: 'live', scopes });

  expect((await api.request('GET', PATH, { key })).status).toBe(403);
});
