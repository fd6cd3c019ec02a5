/** Signalling as rungs. */
import { expect, test } from 'vitest';
import type { SipMessage } from '../../src/dashboard/api-types.ts';
import { ladderOf } from '../../src/dashboard/ladder.ts';

function message(fields: Partial<SipMessage>): SipMessage {
  return {
    at: '2026-11-21T08:00:00.000Z',
    direction: 'in',
    transport: 'UDP',
    from: '192.0.2.1:5060',
    to: '192.0.2.2:5060',
    startLine: 'INVITE sip:+12025550123@192.0.2.2 SIP/2.0',
    cseq: '1 INVITE',
    body: null,
    text: '',
    ...fields,
  };
}

test('ladderOf counts from the first message, and an answer says what it answers', () => {
  const answer = { direction: 'out', at: '2026-11-21T08:00:00.250Z' } as const;

  const rungs = ladderOf([message({}), message({ ...answer, startLine: 'SIP/2.0 200 OK' })]);

  expect(rungs.map(({ atMs, title }) => [atMs, title])).toEqual([
    [0, 'INVITE'],
    [250, '200 OK (INVITE)'],
  ]);
});

test.each([
  ['BYE sip:x@192.0.2.2 SIP/2.0', 'request'],
  ['SIP/2.0 180 Ringing', 'busy'],
  ['SIP/2.0 202 Accepted', 'good'],
  ['SIP/2.0 486 Busy Here', 'bad'],
  ['', 'request'],
])('ladderOf tells the tone of %o', (startLine, tone) => {
  expect(ladderOf([message({ startLine, cseq: '' })])[0]?.tone).toBe(tone);
});

test('ladderOf of nothing is nothing', () => {
  expect(ladderOf([])).toEqual([]);
});
