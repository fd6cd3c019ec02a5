/** Runs that compare calls with SRTP: against our plain RTP, and against rtpengine that decrypts them. */
import { randomBytes } from 'node:crypto';
import { inlineBytesOf } from '../../src/rtp/srtp/transform.ts';
import type { CodecRun } from './codec-runs.ts';
import { isInstalled } from './native-tool.ts';
import { engineCommand, nodeTool } from './rtp-run.ts';
import { SRTP_SUITE } from './srtp-suite.ts';

/** Prints which peer is missing. The caller's key is drawn for each bench. @param calls with SRTP, on both sides. */
export function srtpRuns(calls: number): readonly CodecRun[] {
  const hasRtpengine = isInstalled('rtpengine');
  if (!hasRtpengine) {
    console.log('peer missing: rtpengine that decrypts to RTP (Debian: rtpengine-daemon)');
  }
  const key = randomBytes(inlineBytesOf(SRTP_SUITE)).toString('base64');
  // The caller in Node on every side: it seals and opens, which is the caller's CPU time and not counted.
  const caller = nodeTool('rtp-caller');
  const secure = { caller, callerArgs: ['srtp', key] };
  const ours = { ...secure, calls, server: engineCommand(), serverArgs: ['plain', 'srtp', key] };
  const plain = { caller, calls, server: engineCommand(), serverArgs: ['plain'] };
  const decrypting = {
    // A call of two legs, SRTP and RTP: one packet is opened and one sealed, as ours, and it receives and sends two more.
    ...{ ...secure, calls: 2 * calls, counted: calls, isPidTold: true },
    ...{ server: nodeTool('rtp-rtpengine'), serverArgs: ['srtp', key] },
  };
  const codec = 'PCMU, SRTP' as const;
  return [
    { codec, peer: 'ours with RTP', ours, theirs: plain },
    ...(hasRtpengine ? [{ codec, peer: 'rtpengine, to RTP', ours, theirs: decrypting }] : []),
  ];
}
