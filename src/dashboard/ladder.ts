/** The messages of a call's signalling as rungs between the carrier and us; pure */
import type { SipMessage } from './api-types.ts';

export interface Rung {
  readonly message: SipMessage;
  /** Time since the first message. */
  readonly atMs: number;
  /** Text on the arrow: the method, or the status with its reason. */
  readonly title: string;
  readonly tone: 'request' | 'busy' | 'good' | 'bad';
}

const VERSION = 'SIP/2.0';

export function ladderOf(messages: readonly SipMessage[]): readonly Rung[] {
  const beganMs = Date.parse(messages[0]?.at ?? '');
  return messages.map((message) => ({
    message,
    atMs: Date.parse(message.at) - beganMs,
    title: titleOf(message),
    tone: toneOf(message.startLine),
  }));
}

/** `INVITE`, `200 OK (INVITE)`: a response names the method of its request. */
function titleOf({ startLine, cseq }: SipMessage): string {
  if (!startLine.startsWith(`${VERSION} `)) return startLine.split(' ', 1)[0] ?? startLine;
  const method = cseq.trim().split(/\s+/).at(-1) ?? '';
  const status = startLine.slice(VERSION.length + 1);
  return method === '' ? status : `${status} (${method})`;
}

function toneOf(startLine: string): Rung['tone'] {
  const status = /^SIP\/2\.0 (\d)/.exec(startLine)?.[1];
  if (status === undefined) return 'request';
  if (status === '1') return 'busy';
  return status === '2' ? 'good' : 'bad';
}
