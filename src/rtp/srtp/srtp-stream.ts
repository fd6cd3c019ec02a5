/** SRTP state of both directions: roll-over counters, SRTCP indices and replay windows; pure */
import { RTP_HEADER_BYTES, uint16At, uint32At } from '../packet.ts';
import type { SrtpKeys } from './crypto-suite.ts';
import { ReplayWindow } from './replay-window.ts';
import { createTransform, RTCP_CLEAR_BYTES, type Transform } from './transform.ts';

const ROLL_OVER = 2 ** 16;
const HALF = ROLL_OVER / 2;

/** An index has 48 bits; a master key is good for no more packets. RFC 3711, 9.2. */
const RTP_INDEX_MAX = 2 ** 48 - 1;
const RTCP_INDEX_MAX = 2 ** 31 - 1;

/** Far-end streams that are remembered: a far end has one, and a few more after transfers behind it. */
const STREAMS_MAX = 8;

/** Protects what we send. One SSRC per instance. */
export class SrtpSender {
  readonly #transform: Transform;
  /** An index is never used for two packets, or both could be read. */
  readonly #used = new ReplayWindow();
  #rtcpIndex = 0;

  constructor(keys: SrtpKeys) {
    this.#transform = createTransform(keys);
  }

  /** Octets that protection adds to an RTP packet. */
  get tagBytes(): number {
    return this.#transform.rtpTagBytes;
  }

  /** @returns undefined for a sequence number that has been sent already, or lies far behind. */
  protectRtp(packet: Uint8Array): Buffer | undefined {
    const index = nearestIndex(this.#used.newest, uint16At(packet, 2));
    if (index > RTP_INDEX_MAX || !this.#used.isNew(index)) return undefined;
    this.#used.add(index);
    return this.#transform.protectRtp(packet, index);
  }

  /** @returns undefined when the key is used up. */
  protectRtcp(packet: Uint8Array): Buffer | undefined {
    if (this.#rtcpIndex > RTCP_INDEX_MAX) return undefined;
    const index = this.#rtcpIndex;
    this.#rtcpIndex += 1;
    return this.#transform.protectRtcp(packet, index);
  }
}

interface ReceivedStream {
  readonly rtp: ReplayWindow;
  readonly rtcp: ReplayWindow;
}

/** Unprotects what the far end sends. Nothing is remembered of a packet that fails authentication. */
export class SrtpReceiver {
  readonly #transform: Transform;
  /** By SSRC, the newest last. */
  readonly #streams = new Map<number, ReceivedStream>();
  /** The highest index of each stream under the keys before these. */
  readonly #before: ReadonlyMap<number, number>;

  /** @param before the receiver with the keys before these: its roll-over counters may go on. */
  constructor(keys: SrtpKeys, before?: SrtpReceiver) {
    this.#transform = createTransform(keys);
    this.#before = before?.newest ?? new Map();
  }

  /** @returns the RTP packet; undefined when it is malformed, not authentic, or a replay. */
  unprotectRtp(packet: Uint8Array): Buffer | undefined {
    if (packet.length < RTP_HEADER_BYTES) return undefined;
    const ssrc = uint32At(packet, 8);
    const sequence = uint16At(packet, 2);
    const stream = this.#streams.get(ssrc);
    if (stream === undefined) return this.#begin(packet, ssrc, this.#firstIndices(ssrc, sequence));
    const index = nearestIndex(stream.rtp.newest, sequence);
    if (index > RTP_INDEX_MAX || !stream.rtp.isNew(index)) return undefined;
    const plain = this.#transform.unprotectRtp(packet, index);
    if (plain !== undefined) stream.rtp.add(index);
    return plain;
  }

  /** The first packet of a stream: tries each index until the packet is authentic. */
  #begin(packet: Uint8Array, ssrc: number, indices: readonly number[]): Buffer | undefined {
    for (const index of indices) {
      const plain = this.#transform.unprotectRtp(packet, index);
      if (plain === undefined) continue;
      this.#streamOf(ssrc).rtp.add(index);
      return plain;
    }
    return undefined;
  }

  /** A stream may roll over before its first packet arrives, and may go on with a new key. */
  #firstIndices(ssrc: number, sequence: number): readonly number[] {
    const newest = this.#before.get(ssrc) ?? -1;
    return [...new Set([sequence, sequence + ROLL_OVER, nearestIndex(newest, sequence)])];
  }

  /** The highest index of each stream, by SSRC. */
  get newest(): ReadonlyMap<number, number> {
    return new Map([...this.#streams].map(([ssrc, { rtp }]) => [ssrc, rtp.newest]));
  }

  /** @returns the RTCP packet; undefined as `unprotectRtp`. */
  unprotectRtcp(packet: Uint8Array): Buffer | undefined {
    if (packet.length < RTCP_CLEAR_BYTES) return undefined;
    const opened = this.#transform.unprotectRtcp(packet);
    if (opened === undefined) return undefined;
    const { rtcp } = this.#streamOf(uint32At(packet, 4));
    if (!rtcp.isNew(opened.index)) return undefined;
    rtcp.add(opened.index);
    return opened.packet;
  }

  /** For authenticated packets alone. */
  #streamOf(ssrc: number): ReceivedStream {
    const known = this.#streams.get(ssrc);
    if (known !== undefined) return known;
    const [oldest] = this.#streams.keys();
    if (this.#streams.size >= STREAMS_MAX && oldest !== undefined) this.#streams.delete(oldest);
    const stream = { rtp: new ReplayWindow(), rtcp: new ReplayWindow() };
    this.#streams.set(ssrc, stream);
    return stream;
  }
}

/**
 * The index with this sequence number that lies nearest to the newest one; the roll-over counter begins at 0.
 *
 * @param newest -1 before the first packet.
 * @see RFC 3711 section 3.3.1
 */
function nearestIndex(newest: number, sequence: number): number {
  if (newest < 0) return sequence;
  const rollOvers = newest - (newest % ROLL_OVER);
  const ahead = sequence - (newest % ROLL_OVER);
  if (ahead > HALF && rollOvers > 0) return rollOvers - ROLL_OVER + sequence;
  return ahead < -HALF ? rollOvers + ROLL_OVER + sequence : rollOvers + sequence;
}
