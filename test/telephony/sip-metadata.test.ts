/** Headers of an INVITE as they go into a call's record: what is kept, and what a hostile far end cannot get in. */
import { describe, expect, test } from 'vitest';
import { screenedPartyOf, sipMetadataOf } from '../../src/telephony/call-headers.ts';

function invite(...lines: readonly string[]): string {
  const head = [
    'INVITE sip:+12025550123@192.0.2.1 SIP/2.0',
    'From: <sip:+15550100001@192.0.2.9>;tag=1',
    ...lines,
  ];
  return `${head.join('\r\n')}\r\n\r\nv=0\r\nX-In-Body: no\r\n`;
}

describe('sipMetadataOf', () => {
  test('keeps X- headers by their names in lower case, and joins lines of one name', () => {
    const raw = invite('X-Account-ID: 42', 'x-tag: a', 'X-Tag: b', 'Subject: not kept');

    expect(sipMetadataOf(raw, true)).toEqual({
      headers: { 'x-account-id': '42', 'x-tag': 'a, b' },
    });
  });

  test('keeps User-to-User as it came, the first of several', () => {
    const raw = invite('User-to-User: 56a390f3;encoding=hex', 'User-to-User: 00;encoding=hex');

    expect(sipMetadataOf(raw, true)).toEqual({ userToUser: '56a390f3;encoding=hex', dropped: 1 });
  });

  test('reads Diversion in its order, over several lines and in lists, without private numbers', () => {
    const raw = invite(
      'Diversion: "Front, desk" <sip:+12025550124@c.example;user=phone>;reason=no-answer;counter=1, <tel:+12025550125>;reason="user-busy"',
      'Diversion: <sip:+12025550126@c.example>;privacy=full;reason=unconditional',
    );

    expect(sipMetadataOf(raw, true)).toEqual({
      diversion: [
        { number: '+12025550124', reason: 'no-answer' },
        { number: '+12025550125', reason: 'user-busy' },
        { number: 'anonymous', reason: 'unconditional' },
      ],
    });
  });

  test.each([
    [
      ['P-Asserted-Identity: <sip:+15550100001;verstat=TN-Validation-Passed@c.example;user=phone>'],
      'TN-Validation-Passed',
    ],
    [['P-Asserted-Identity: <tel:+15550100001;verstat=No-TN-Validation>'], 'No-TN-Validation'],
    [
      ['From: "x" <sip:+15550100001;verstat=TN-Validation-Failed-B@c.example>;tag=2'],
      'TN-Validation-Failed-B',
    ],
    [['From: ";verstat=TN-Validation-Passed" <sip:+15550100001@c.example>;tag=2'], undefined],
    [['From: <sip:+15550100001@c.example>;tag=2;verstat=TN-Validation-Passed'], undefined],
    [['From: <sip:+15550100001;verstat=anything@c.example>;tag=2'], undefined],
  ])('takes the verdict of the carrier from the URI alone: %j', (lines, verstat) => {
    expect(sipMetadataOf(invite(...lines), true)?.verstat).toBe(verstat);
  });

  test('takes no verdict from a host that is no carrier', () => {
    const raw = invite('P-Asserted-Identity: <tel:+15550100001;verstat=TN-Validation-Passed>');

    expect(sipMetadataOf(raw, false)).toBeUndefined();
  });

  test.each([
    ['a value of 10 kB', [`X-Long: ${'a'.repeat(10_000)}`]],
    ['a name of 10 kB', [`X-${'a'.repeat(10_000)}: 1`]],
    ['NUL', ['X-Nul: a\0b']],
    ['an escape sequence', ['X-Escape: \u001b[2J']],
    ['broken UTF-8', ['X-Broken: \uFFFD\uFFFD']],
    ['a name that is no token', ['X-A B: 1']],
    ['a long User-to-User', [`User-to-User: ${'0'.repeat(600)}`]],
    ['a long Diversion', [`Diversion: <sip:${'1'.repeat(300)}@c.example>`]],
  ])('leaves out %s, and says so', (_, lines) => {
    expect(sipMetadataOf(invite(...lines, 'X-Good: 1'), true)).toEqual({
      headers: { 'x-good': '1' },
      dropped: 1,
    });
  });

  test('keeps 20 of 200 headers', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `X-H${index}: ${index}`);

    const { headers = {}, dropped } = sipMetadataOf(invite(...lines), true) ?? {};

    expect(Object.keys(headers)).toHaveLength(20);
    expect(dropped).toBe(180);
  });

  test('takes a folded line for one value', () => {
    const raw = invite('X-Folded: one\r\n X-Injected: two\r\n\tUser-to-User: 00');

    expect(sipMetadataOf(raw, true)).toEqual({
      headers: { 'x-folded': 'one X-Injected: two User-to-User: 00' },
    });
  });

  test('keeps nothing of a plain INVITE, nor of its body', () => {
    expect(sipMetadataOf(invite(), true)).toBeUndefined();
  });
});

test.each([
  ['<sip:+15550100001@c>;party=calling;screen=yes;privacy=off', true],
  ['"x, y" <sip:+15550100001@c>;screen=yes', true],
  ['<sip:+12025550123@c>;party=called;screen=yes, <sip:+15550100001@c>;screen=yes', true],
  ['<sip:+15550100001@c>;screen=no', false],
  ['<sip:+15550100001@c>', false],
  ['<sip:+15550100001@c>;screen=yes;privacy=full', false],
  ['<sip:+15550100001;screen=yes@c>', false],
  ['', false],
])('screenedPartyOf takes the calling party that the carrier has screened: %s', (header, isTaken) => {
  expect(screenedPartyOf(header)?.includes('+15550100001') ?? false).toBe(isTaken);
});
