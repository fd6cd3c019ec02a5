import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BadMessageError, makeResponse, type SipMessage } from '../../src/sip/message/message.ts';
import { parseUri } from '../../src/sip/message/uri.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { checkRequest } from '../../src/sip/parser/request-check.ts';
import { StreamFramer } from '../../src/sip/parser/stream-framer.ts';

interface Expectation {
  readonly section: string;
  readonly name: string;
  readonly outcome: 'accept' | 'drop' | number;
  readonly by?: 'parser' | 'check' | 'transaction';
}

const FOLDER = 'test/fixtures/rfc4475';
const EXPECTATIONS: Expectation[] = JSON.parse(readFileSync(`${FOLDER}/outcomes.json`, 'utf8'));

function octetsOf(name: string): Buffer {
  return readFileSync(`${FOLDER}/${name}.dat`);
}

function messageOf(name: string): SipMessage {
  return parseMessage(octetsOf(name));
}

/** What parser and check make of a datagram, in the words of outcomes.json. */
function outcomeOf(octets: Buffer): Pick<Expectation, 'outcome' | 'by'> {
  try {
    const message = parseMessage(octets);
    if (!message.isRequest) return { outcome: 'drop', by: 'transaction' };
    const refusal = checkRequest(message);
    return refusal === undefined ? { outcome: 'accept' } : { outcome: refusal.status, by: 'check' };
  } catch (error) {
    if (!(error instanceof BadMessageError)) throw error;
    return { outcome: error.status === 0 ? 'drop' : error.status, by: 'parser' };
  }
}

test('the table holds the 49 messages of RFC 4475', () => {
  const names = new Set(EXPECTATIONS.map(({ name }) => name));

  expect(names.size).toBe(49);
});

test.each(EXPECTATIONS)('parseMessage and checkRequest settle $section $name: $outcome', (row) => {
  const outcome = outcomeOf(octetsOf(row.name));

  expect(outcome).toEqual(
    row.by === undefined ? { outcome: row.outcome } : { outcome: row.outcome, by: row.by },
  );
});

test.each(
  EXPECTATIONS.filter(({ outcome, by }) => typeof outcome === 'number' && by === 'parser'),
)('makeResponse answers $section $name although it is broken', ({ name }) => {
  let broken: SipMessage | undefined;
  try {
    messageOf(name);
  } catch (error) {
    broken = error instanceof BadMessageError ? error.sipMessage : undefined;
  }

  expect(broken?.via.host).toBeTruthy();
  expect(broken && makeResponse(broken, 400, undefined, 'tag').toBuffer().length).toBeGreaterThan(
    0,
  );
});

test('parseMessage unfolds and orders the headers of wsinv', () => {
  const message = messageOf('wsinv');

  expect(message.list('via')).toHaveLength(3);
  expect(message.via).toMatchObject({ transport: 'UDP', host: '192.0.2.2' });
  expect(message.from.displayName).toBe('J Rosenberg \\"');
  expect(message.cseq).toEqual({ seq: 9, method: 'INVITE' });
  expect(message.contact?.params.get('secondparam')).toBeNull();
  expect(message.get('unknownheaderwithunusualvalue')).toBe(';;,,;;,;');
  expect(message.get('newfangledheader')).toBe('newfangled value continued newfangled value');
  expect(message.get('subject')).toBe('');
});

test('parseMessage keeps the escapes of esc01, escnull, esc02 and semiuri', () => {
  const contacts = messageOf('escnull').list('contact');

  expect(parseUri(messageOf('esc01').uri)).toMatchObject({
    scheme: 'sip',
    user: 'sips%3Auser%40example.com',
    host: 'example.net',
  });
  expect(contacts).toEqual(['<sip:%00@host5.example.com>', '<sip:%00%00@host5.example.com>']);
  expect(messageOf('esc02').list('contact')).toHaveLength(2);
  expect(parseUri(messageOf('semiuri').uri)).toMatchObject({
    user: 'user;par=u%40example.net',
    host: 'example.com',
    params: new Map(),
  });
});

test('parseMessage takes the body by its length, NUL octets and all', () => {
  expect(messageOf('mpart01').body).toHaveLength(553);
  expect(messageOf('dblreq').body).toHaveLength(0);
});

test('parseMessage gives a bare Contact header parameters, and one in brackets none', () => {
  const bare = messageOf('cparam01').contact;
  const bracketed = messageOf('cparam02').contact;

  expect(bare?.uri).toBe('sip:+19725552222@gw1.example.net');
  expect(bare?.params.has('unknownparam')).toBe(true);
  expect(bracketed?.uri).toBe('sip:+19725552222@gw1.example.net;unknownparam');
  expect(bracketed?.params.size).toBe(0);
});

test('parseMessage never makes a Route of what stands in a URI', () => {
  expect(messageOf('regescrt').all('route')).toEqual([]);
});

test('checkRequest lists what it does not support, of Require alone', () => {
  expect(checkRequest(messageOf('bext01'))?.headers).toEqual([
    ['unsupported', 'nothingSupportsThis, nothingSupportsThisEither'],
  ]);
});

test('checkRequest lists the methods it knows and the content it takes', () => {
  expect(checkRequest(messageOf('intmeth'))?.headers[0]?.[0]).toBe('allow');
  expect(checkRequest(messageOf('invut'))?.headers).toEqual([
    ['accept', 'application/sdp, multipart/mixed, multipart/alternative'],
  ]);
});

test.each(['ncl', 'mcl01'])('StreamFramer gives the connection up at %s, with 400', (name) => {
  const frames = new StreamFramer().push(octetsOf(name));

  expect(frames).toMatchObject([{ kind: 'broken', error: { status: 400 } }]);
});

test('StreamFramer waits for the rest of clerr', () => {
  const framer = new StreamFramer();

  const frames = framer.push(octetsOf('clerr'));

  expect(frames).toEqual([]);
  expect(framer.isWaiting).toBe(true);
});
