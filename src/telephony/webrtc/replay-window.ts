/** Lets each SRTP packet through once: whoever records packets of a call must not be able to play them again; pure */
import { sequenceDistance } from '../../rtp/packet.ts';

/** RFC 3711, 3.3.2: at least 64. */
const WINDOW_PACKETS = 64;

/** For one SSRC at a time, by the 16-bit sequence number of authenticated packets. */
export class ReplayWindow {
  #ssrc: number | undefined;
  #newest = 0;
  /** The newest packet's bit is the lowest. */
  #seen = 0n;

  /** Whether the packet is new; one that is older than the window counts as seen. */
  accept(ssrc: number, sequence: number): boolean {
    if (ssrc !== this.#ssrc) {
      this.#ssrc = ssrc;
      this.#newest = sequence;
      this.#seen = 1n;
      return true;
    }
    const ahead = sequenceDistance(this.#newest, sequence);
    if (ahead > 0) {
      this.#newest = sequence;
      this.#seen = BigInt.asUintN(WINDOW_PACKETS, (this.#seen << BigInt(ahead)) | 1n);
      return true;
    }
    const bit = 1n << BigInt(-ahead);
    if (-ahead >= WINDOW_PACKETS || (this.#seen & bit) !== 0n) return false;
    this.#seen |= bit;
    return true;
  }
}
