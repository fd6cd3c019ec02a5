/** Knows programs that look for telephone servers to misuse, by the name that they give themselves; pure */
import type { SipMessage } from './message/message.ts';

/** As in sip-config/drachtio.conf.xml. */
const SCANNER = /\b(?:sip-?cli|friendly-scanner|sipvicious)\b/i;

/** Whether a request may have an answer. Whoever calls himself a scanner gets none at all: it would tell that there is a server. */
export function isNoScanner(request: SipMessage): boolean {
  return !SCANNER.test(request.get('user-agent') ?? '');
}
