/** Keeps werift off the internet: a connection asks no server what its address looks like from outside. */
import type { RTCPeerConnection } from 'werift';

/** Without a list of its own, werift asks a server of Google's at every call, and an empty list counts as none. */
export function hostCandidatesOnly(peer: RTCPeerConnection): void {
  for (const { connection } of peer.iceTransports) delete connection.stunServer;
}
