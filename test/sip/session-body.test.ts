/** Multipart bodies: SDP with ISUP, locations, alternatives. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SipMessage } from '../../src/sip/message/message.ts';
import { readParts, sessionBodyOf, withPlainSession } from '../../src/sip/message/session-body.ts';
import { faultOf } from '../../src/sip/message/status.ts';
import { checkRequest } from '../../src/sip/parser/request-check.ts';
import { request, responseTo, SDP } from './messages.ts';

const MIXED = 'multipart/mixed; boundary=b1';

const SESSION = `Content-Type: application/sdp\r\n\r\n${SDP}`;
/** As SIP-I sends it: octets that are no text, a line break among them. */
const ISUP = 'Content-Type: application/ISUP;version=itu-t92+\r\n\r\n\x01\x00\r\n\xff';
const REQUIRED = ISUP.replace(
  '\r\n\r\n',
  '\r\nContent-Disposition: signal;handling=required\r\n\r\n',
);
const OPTIONAL = REQUIRED.replace('required', 'optional');

function bodyOf(parts: readonly string[], boundary = 'b1'): string {
  return `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`;
}

function messageWith(body: string, contentType = MIXED, method = 'INVITE'): SipMessage {
  const message = request(method, { 'Content-Type': contentType });
  message.body = Buffer.from(body, 'latin1');
  return message;
}

const NESTED = `Content-Type: multipart/alternative;boundary="b 2"\r\n\r\n${bodyOf(
  [SESSION.replace('40000', '40002'), SESSION, 'Content-Type: application/sdpng\r\n\r\n<x/>'],
  'b 2',
)}`;

describe('sessionBodyOf', () => {
  test.each([
    ['SDP first', [SESSION, ISUP]],
    ['SDP last', [ISUP, SESSION]],
    ['SDP alone', [SESSION]],
    [
      'a header in other letters, folded',
      [SESSION.replace('Content-Type: ', 'CONTENT-TYPE:\r\n ')],
    ],
    ['two descriptions, of which the first counts', [SESSION, SESSION.replace('40000', '40002')]],
    ['alternatives inside, of which the last counts', [NESTED]],
  ])('finds the description: %s', (_, parts) => {
    const { sdp, isUnderstood } = sessionBodyOf(messageWith(bodyOf(parts)));

    expect(sdp?.toString()).toBe(SDP);
    expect(isUnderstood).toBe(true);
  });

  test.each([
    ['a part that must be understood', [SESSION, REQUIRED], false],
    ['a part that need not be', [SESSION, OPTIONAL], true],
    ['no description, and a part that does not say', [ISUP], false],
    ['no description, and a part that need not be understood', [OPTIONAL], true],
    ['a part without headers', [SESSION, '\r\nhello'], true],
  ])('says whether all is understood: %s', (_, parts, expected) => {
    expect(sessionBodyOf(messageWith(bodyOf(parts))).isUnderstood).toBe(expected);
  });

  test('ignores a body that may be ignored', () => {
    const message = messageWith('\x01', 'application/isup');
    message.set('content-disposition', 'signal ; handling=optional');

    expect(sessionBodyOf(message)).toEqual({ sdp: undefined, isUnderstood: true });
  });
});

describe('readParts', () => {
  test('leaves out what stands before and behind the parts', () => {
    const parts = readParts(
      MIXED,
      Buffer.from(`preamble\r\n${bodyOf(['\r\na', '\r\nb'])}epilogue`),
    );

    expect(parts.map(({ body }) => body.toString())).toEqual(['a', 'b']);
  });

  test('does not take a longer boundary for its own', () => {
    const inner = bodyOf(['\r\ndeep'], 'b12');

    const parts = readParts(MIXED, Buffer.from(bodyOf([`\r\n${inner}`, ''])));

    expect(parts.map(({ body }) => body.toString())).toEqual([inner, '']);
  });

  test.each([
    ['no boundary parameter', 'multipart/mixed', bodyOf([SESSION])],
    ['no delimiter', MIXED, SESSION],
    ['no end', MIXED, `--b1\r\n${SESSION}\r\n`],
    ['more than 16 parts', MIXED, bodyOf(new Array(17).fill('\r\n'))],
    ['a head without end', MIXED, bodyOf([`A: ${'x'.repeat(5000)}\r\n\r\n`])],
  ])('refuses %s', (_, contentType, body) => {
    expect(() => readParts(contentType, Buffer.from(body))).toThrow(
      expect.objectContaining({ name: 'SipError', status: 400 }),
    );
  });

  test('reads or refuses anything, and nothing else', () => {
    const piece = fc.constantFrom('--b1', '--', '\r\n', ' ', 'Content-Type: ', 'x', '\r\n\r\n');

    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const body = Buffer.from(pieces.join(''));
        faultOf(() => readParts(MIXED, body));
        return true;
      }),
      { numRuns: 1000 },
    );
  });
});

describe('checkRequest', () => {
  test.each([
    ['a description among others', bodyOf([SESSION, ISUP]), undefined],
    ['a part that must be understood', bodyOf([SESSION, REQUIRED]), 415],
    ['no description', bodyOf([ISUP]), 415],
    ['parts without end', '--b1\r\n', 400],
  ])('settles a call with %s', (_, body, status) => {
    expect(checkRequest(messageWith(body))?.status).toBe(status);
  });
});

describe('withPlainSession', () => {
  test.each(['INVITE', 'UPDATE', 'ACK'])('keeps the description alone of %s', (method) => {
    const message = messageWith(bodyOf([ISUP, SESSION]), MIXED, method);

    const plain = withPlainSession(message);

    expect(plain.body.toString()).toBe(SDP);
    expect(plain.get('content-type')).toBe('application/sdp');
    expect(message.get('content-type')).toBe(MIXED);
  });

  test.each([
    ['what is not a session', messageWith('Signal=5', 'application/dtmf-relay', 'INFO')],
    ['a plain description', messageWith(SDP, 'Application/SDP;charset=utf-8')],
    ['a refusal', responseTo(messageWith(''), 488, { 'Content-Type': 'text/plain' })],
  ])('leaves %s as it is', (_, message) => {
    if (message.body.length === 0) message.body = Buffer.from('why');

    expect(withPlainSession(message)).toBe(message);
  });

  test('takes away what describes nothing', () => {
    const ringing = responseTo(request('INVITE'), 183, { 'Content-Type': MIXED });
    ringing.body = Buffer.from('--b1\r\nnever ends', 'latin1');

    const plain = withPlainSession(ringing);

    expect(plain.body).toHaveLength(0);
    expect(plain.get('content-type')).toBeUndefined();
  });
});
