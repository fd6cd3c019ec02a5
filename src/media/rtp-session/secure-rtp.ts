/** SRTP of a session: protects sent packets, and unprotects received ones. */
import { BoundedMap } from '../../lib/bounded-map.ts';
import { isRtcp } from '../../rtp/packet.ts';
import type { Source } from '../../rtp/source-lock.ts';
import type { AgreedSrtp } from '../../rtp/srtp/sdes.ts';
import { SrtpReceiver, SrtpSender, StreamIndices } from '../../rtp/srtp/srtp-stream.ts';
import type { SrtpKeys } from '../../rtp/srtp/transform.ts';
import type { RtpNetwork } from './rtcp-reports.ts';

/** Keys of the far end whose state is kept. Some rekey with each description, a few times an hour. */
const RECEIVERS_MAX = 16;

/**
 * SRTP of one session. The state of each key lasts as long as the session, for a key may come back: after plain RTP, or after
 * another suite. With a new state its packets would have the key stream of earlier ones.
 */
export class SecureRtp implements RtpNetwork {
  readonly #network: RtpNetwork;
  /** Senders by key. Never evicted: we have one key for each suite and far end, and far ends are few. */
  readonly #senders = new Map<string, SrtpSender>();
  /** Receivers by key, the least recently agreed first. */
  readonly #receivers = new BoundedMap<string, SrtpReceiver>(RECEIVERS_MAX);
  readonly #indices = new StreamIndices();
  #sender: SrtpSender;
  #receiver: SrtpReceiver;

  constructor(network: RtpNetwork, { send, receive }: AgreedSrtp) {
    this.#network = network;
    this.#sender = this.#senderOf(send);
    this.#receiver = this.#receiverOf(receive);
  }

  /** Octets that protection adds to an RTP packet. */
  get tagBytes(): number {
    return this.#sender.tagBytes;
  }

  /** Applies an agreement, also after a time without SRTP. Known keys keep their roll-over counters and replay windows. */
  setKeys({ send, receive }: AgreedSrtp): void {
    this.#sender = this.#senderOf(send);
    this.#receiver = this.#receiverOf(receive);
    this.#sender.resume();
    this.#receiver.resume();
  }

  #senderOf(keys: SrtpKeys): SrtpSender {
    const sender = this.#senders.get(keyOf(keys)) ?? new SrtpSender(keys);
    this.#senders.set(keyOf(keys), sender);
    return sender;
  }

  #receiverOf(keys: SrtpKeys): SrtpReceiver {
    const key = keyOf(keys);
    const receiver = this.#receivers.get(key) ?? new SrtpReceiver(keys, this.#indices);
    this.#receivers.set(key, receiver);
    return receiver;
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

function keyOf({ suite, inline }: SrtpKeys): string {
  return `${suite} ${inline}`;
}
