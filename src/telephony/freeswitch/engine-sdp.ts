/** Descriptions that we give to FreeSWITCH: of the media engine's port, and of a carrier that is not known yet; pure */
import { type CodecName, offer } from '../../rtp/sdp-answer.ts';
import { offerOf } from '../codec-offer.ts';

/** What the engine's port says of itself to FreeSWITCH: PCMU, so that nothing is encoded twice on most trunks. */
export function engineOffer(port: number, address: string): string {
  return offerOf(['PCMU'], { address, port, sessionId: 1, version: 1 });
}

/** What FreeSWITCH is told of a carrier that has said nothing yet: any address, and nothing to send there. */
export function silentOffer(codecs: readonly CodecName[] | undefined): string {
  const nowhere = { address: '127.0.0.1', port: 9, sessionId: 1, version: 1 };
  const sdp = codecs === undefined ? offer(nowhere) : offerOf(codecs, nowhere);
  return sdp.replace('a=sendrecv', 'a=inactive');
}
