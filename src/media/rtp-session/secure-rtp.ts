/** SRTP of a session: stands between the session and the network, and protects what passes. */
import { isRtcp } from '../../rtp/packet.ts';
import type { Source } from '../../rtp/source-lock.ts';
import type { AgreedSrtp } from '../../rtp/srtp/sdes.ts';
import { SrtpReceiver, SrtpSender } from '../../rtp/srtp/srtp-stream.ts';
import type { RtpNetwork } from './rtcp-reports.ts';

export class SecureRtp implements RtpNetwork {
  readonly #network: RtpNetwork;
  #keys: AgreedSrtp;
  #sender: SrtpSender;
  #receiver: SrtpReceiver;

  constructor(network: RtpNetwork, keys: AgreedSrtp) {
    this.#network = network;
    this.#keys = keys;
    this.#sender = new SrtpSender(keys.send);
    this.#receiver = new SrtpReceiver(keys.receive);
  }

  /** Octets that protection adds to an RTP packet. */
  get tagBytes(): number {
    return this.#sender.tagBytes;
  }

  /** Applies a new agreement. Keys that stay keep their roll-over counters and replay windows. */
  setKeys({ send, receive }: AgreedSrtp): void {
    const before = this.#keys;
    this.#keys = { send, receive };
    if (send.inline !== before.send.inline) this.#sender = new SrtpSender(send);
    const isKept =
      receive.inline === before.receive.inline && receive.suite === before.receive.suite;
    if (!isKept) this.#receiver = new SrtpReceiver(receive, this.#receiver);
  }

  sendRtp(datagram: Uint8Array, target: Source): void {
    const sealed = isRtcp(datagram)
      ? this.#sender.protectRtcp(datagram)
      : this.#sender.protectRtp(datagram);
    if (sealed !== undefined) this.#network.sendRtp(sealed, target);
  }

  sendRtcp(datagram: Uint8Array, target: Source): void {
    const sealed = this.#sender.protectRtcp(datagram);
    if (sealed !== undefined) this.#network.sendRtcp(sealed, target);
  }

  /** @returns the plain RTP or RTCP packet; undefined when it is not authentic, or a replay. */
  open(datagram: Uint8Array): Uint8Array | undefined {
    return isRtcp(datagram)
      ? this.#receiver.unprotectRtcp(datagram)
      : this.#receiver.unprotectRtp(datagram);
  }
}
