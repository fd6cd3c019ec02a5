/** What FreeSWITCH tells of the RTP packets that reach a leg, those included that it does not believe; pure */
import type { Source } from '../../rtp/source-lock.ts';

export interface TracedPacket {
  readonly source: Source;
  readonly sequence: number;
}

/**
 * The line that `uuid_debug_media … read on` makes of each packet of a type that was agreed on:
 *
 *     R sofia/offhook_outer/… b=  92 10.0.0.5:24004 192.0.2.1:4000 203.0.113.50:61000 pt=0 ts=160 seq=7 m=0
 *                                    FreeSWITCH     by the SDP     really from
 */
const LINE =
  /^R \S+ b= *\d+ \S+:\d+ \S+:\d+ ((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5}) pt=\d+ ts=\d+ seq=(\d{1,5}) /;

/** Reads a line of FreeSWITCH's log; undefined when it is another one. @see switch_rtp.c, read_rtp_packet */
export function tracedPacketIn(line: string): TracedPacket | undefined {
  const [, address, port, sequence] = LINE.exec(line) ?? [];
  if (address === undefined) return undefined;
  return { source: { address, port: Number(port) }, sequence: Number(sequence) };
}
