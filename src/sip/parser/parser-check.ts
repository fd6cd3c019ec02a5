/** What must hold of the headers of any message; pure */
import { parseDecimal } from '../message/char-class.ts';
import { splitList } from '../message/header-list.ts';
import { wireName } from '../message/header-name.ts';
import type { SipMessage } from '../message/message.ts';
import { isKnownMethod } from '../message/method.ts';
import { parseNameAddr } from '../message/name-addr.ts';
import { SipError } from '../message/sip-error.ts';
import type { Via } from '../message/via.ts';
import { parseVia } from '../message/via.ts';

/** Lists of addresses: one that cannot be read would surprise whoever reads it later. */
const ADDRESS_LISTS = ['contact', 'route', 'record-route'] as const;

/** @see RFC 3261 section 7.3.1: only headers that are lists may come more than once */
const SINGLE = [
  'call-id',
  'content-length',
  'content-type',
  'cseq',
  'expires',
  'from',
  'max-forwards',
  'min-se',
  'rack',
  'refer-to',
  'replaces',
  'rseq',
  'session-expires',
  'to',
];

/** Each header that is looked at has a bit of its own, by which it is known to be there. */
const BITS: ReadonlyMap<string, number> = new Map(
  [...SINGLE, ...ADDRESS_LISTS].map((name, index) => [name, 1 << index]),
);
const SINGLE_BITS = (1 << SINGLE.length) - 1;

const MAX_FORWARDS_MAX = 255;

/** The branch that says "RFC 3261" and then nothing: it tells no transaction from another. */
const EMPTY_BRANCH = 'z9hG4bK';

/**
 * Checks the headers that every message must have, and the form of those the engine reads.
 *
 * @throws {SipError} 400; 501 where method and CSeq differ and the method is unknown; 0 where no
 * Via says how to answer.
 * @see RFC 3261 sections 8.1.1, 16.3 and 18.3
 */
export function checkHeaders(message: SipMessage): void {
  checkVias(message);
  const present = checkSingle(message);
  if (message.callId === '') throw new SipError(400, 'Missing Call-ID');
  parseTagged(message, 'from');
  parseTagged(message, 'to');
  for (const name of ADDRESS_LISTS) {
    if ((present & (BITS.get(name) ?? 0)) !== 0) checkAddresses(message, name);
  }
  if (message.isRequest) checkOfRequest(message);
  else void message.cseq;
}

function checkVias(message: SipMessage): void {
  const topVia = readTopVia(message);
  if (topVia.version !== '2.0' || message.all('via').includes(''))
    throw new SipError(400, 'Bad Via');
  if (topVia.params.get('branch') === EMPTY_BRANCH) throw new SipError(400, 'Bad Branch');
  const values = message.list('via');
  for (let i = 1; i < values.length; i++) parseVia(values[i] ?? '');
}

function readTopVia(message: SipMessage): Via {
  try {
    return message.via;
  } catch (error) {
    throw error instanceof SipError ? new SipError(0, 'Bad Via') : error;
  }
}

/** @returns the bits of the headers that are there. */
function checkSingle(message: SipMessage): number {
  let seen = 0;
  for (const [name] of message.headers) {
    const bit = BITS.get(name) ?? 0;
    if ((seen & bit & SINGLE_BITS) !== 0) throw new SipError(400, `Multiple ${wireName(name)}`);
    seen |= bit;
  }
  return seen;
}

/** An address whose tag, where it has one, can tell dialogs apart. */
function parseTagged(message: SipMessage, name: 'from' | 'to'): void {
  if (message[name].params.get('tag') === null)
    throw new SipError(400, `Bad ${wireName(name)} Tag`);
}

function checkAddresses(message: SipMessage, name: string): void {
  for (const line of message.all(name)) {
    if (name === 'contact' && line === '*') continue;
    for (const value of splitList(line)) parseNameAddr(value);
  }
}

function checkOfRequest(message: SipMessage): void {
  const { method } = message.cseq;
  if (method !== message.method) {
    if (!isKnownMethod(message.method)) throw new SipError(501, 'Not Implemented');
    throw new SipError(400, 'CSeq Method Mismatch');
  }
  const maxForwards = message.get('max-forwards');
  if (maxForwards !== undefined && parseDecimal(maxForwards, MAX_FORWARDS_MAX) === undefined) {
    throw new SipError(400, 'Bad Max-Forwards');
  }
}
