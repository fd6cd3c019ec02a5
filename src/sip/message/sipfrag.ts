/** The fragment of a SIP message that reports on a transfer: its status line; pure */

export interface ReferReport {
  readonly status: number;
  readonly reason: string;
}

const STATUS_LINE = /^SIP\/2\.0 ([1-6]\d\d)(?: ([^\r\n]*))?/;

/**
 * Reads the status line of a `message/sipfrag` body; null where there is none.
 *
 * @see RFC 3420, RFC 3515 section 2.4.5
 */
export function parseSipfrag(body: Buffer): ReferReport | null {
  const match = STATUS_LINE.exec(body.toString('utf8'));
  return match === null ? null : { status: Number(match[1]), reason: match[2] ?? '' };
}
