/** Puts what the application wants on a message, and refuses what would break or forge it; pure */
import { canonicalName } from './message/header-name.ts';
import type { SipMessage } from './message/message.ts';
import type { HeaderValues, MessageParts } from './outgoing.ts';

/** Headers that the engine answers for: an application that sets them means something else. */
const ENGINE_HEADERS = new Set(['via', 'call-id', 'cseq', 'content-length', 'from', 'to']);

const NAME = /^[A-Za-z0-9\-.!%*_+`'~]+$/;

/** What would end a line and begin another. */
const LINE_BREAK = /[\r\n\0]/;

const DEFAULT_CONTENT_TYPE = 'application/sdp';

/**
 * Adds headers and body. A header that is there already is replaced.
 *
 * @throws {TypeError} when a name is none, belongs to the engine, or a value holds a line break.
 */
export function addParts(message: SipMessage, parts: MessageParts): void {
  addHeaders(message, parts.headers ?? {});
  if (parts.body === undefined || parts.body.length === 0) return;
  message.body = Buffer.isBuffer(parts.body) ? parts.body : Buffer.from(parts.body, 'utf8');
  if (parts.contentType !== undefined) message.set('content-type', wireText(parts.contentType));
  else if (message.get('content-type') === undefined) {
    message.set('content-type', DEFAULT_CONTENT_TYPE);
  }
}

/**
 * Text as messages hold it: the octets of its UTF-8, one character each.
 *
 * @throws {TypeError} when it holds a line break.
 */
export function wireText(text: string): string {
  if (LINE_BREAK.test(text)) throw new TypeError('Cannot send SIP text: holds a line break');
  return Buffer.from(text, 'utf8').toString('latin1');
}

function addHeaders(message: SipMessage, headers: HeaderValues): void {
  for (const [name, value] of Object.entries(headers)) {
    const canonical = canonicalName(name);
    if (!NAME.test(name)) throw new TypeError('Cannot send SIP header: name is no token');
    if (ENGINE_HEADERS.has(canonical)) {
      throw new TypeError(`Cannot send SIP header "${name}": the engine writes it`);
    }
    message.delete(canonical);
    const values = typeof value === 'string' ? [value] : value;
    for (const each of values) message.add(canonical, wireText(each));
  }
}
