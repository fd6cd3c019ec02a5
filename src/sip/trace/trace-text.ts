/** A message of a trace as text that may be shown: without what lets somebody in; pure */
import { isUtf8 } from 'node:buffer';
import { SipMessage } from '../message/message.ts';
import type { TracedMessage } from './call-trace.ts';

const REMOVED = '(removed)';

/** Answers to challenges, folded lines among them. RFC 3261, 7.3.1. */
const CREDENTIALS = /^((?:proxy-)?authorization[ \t]*:)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;

/**
 * `sip:user:password@host`. RFC 3261, 19.1.1: sending it is not recommended, and some do. With limits, so that a message
 * full of beginnings costs no more than one without.
 */
const URI_PASSWORD = /(sips?:[^\s:@<>"]{1,256}):[^\s@<>"]{0,512}@/gi;

/** Keys of SDES, of the old k= line, and of ICE. RFC 4568, 9.1; RFC 8839, 5.4. */
const SDP_KEYS = /^(a=crypto:\d+ \S+ |k=|a=ice-pwd:)[^\r\n]*/gim;

/** UTF-8 where it is that, else one character for each octet; without credentials, passwords and media keys. */
export function traceText({ wire }: Pick<TracedMessage, 'wire'>): string {
  const bytes = wire instanceof SipMessage ? wire.toBuffer() : wire;
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  return text
    .replace(CREDENTIALS, `$1 ${REMOVED}`)
    .replace(URI_PASSWORD, `$1:${REMOVED}@`)
    .replace(SDP_KEYS, `$1${REMOVED}`);
}
