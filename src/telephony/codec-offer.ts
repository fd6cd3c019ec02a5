/** Our own offers, with the codecs that a trunk is to have; pure */
import { type CodecName, type LocalMedia, offer } from '../rtp/sdp-answer.ts';

/** @see RFC 3551 section 6 */
const PAYLOAD_TYPES: Readonly<Record<CodecName, number>> = { PCMU: 0, PCMA: 8 };

/** In the order of our own offers. */
export const OUR_CODECS: readonly CodecName[] = ['PCMU', 'PCMA'];

/** Writes our offer with only the given codecs, in their order, and telephone-event; both ways. */
export function offerOf(codecs: readonly CodecName[], ours: LocalMedia): string {
  const unwanted = OUR_CODECS.filter((name) => !codecs.includes(name));
  const isWanted = (line: string) => !unwanted.some((name) => line.endsWith(` ${name}/8000`));
  const payloadTypes = codecs.map((name) => PAYLOAD_TYPES[name]).join(' ');
  return offer(ours)
    .split('\r\n')
    .filter(isWanted)
    .map((line) => line.replace(/^(m=audio \d+ RTP\/AVP )0 8\b/, `$1${payloadTypes}`))
    .join('\r\n');
}
