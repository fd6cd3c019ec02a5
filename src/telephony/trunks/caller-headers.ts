/** Headers of a request of ours that name the calling number, as the trunk's carrier wants them; pure */
import { domainOf, type Trunk } from './trunks.ts';

/**
 * From, and what the trunk's `callerIdHeader` adds to it.
 *
 * @see RFC 3325, section 9.1; draft-ietf-sip-privacy-04, section 5
 */
export function callerHeadersOf(trunk: Trunk, from: string): Readonly<Record<string, string>> {
  const caller = `<sip:${trunk.callerId ?? from}@${domainOf(trunk)}>`;
  const { callerIdHeader } = trunk;
  return {
    From: caller,
    ...(callerIdHeader !== 'from' && { 'P-Asserted-Identity': caller }),
    ...(callerIdHeader === 'rpid' && {
      'Remote-Party-ID': `${caller};party=calling;privacy=off;screen=yes`,
    }),
  };
}
