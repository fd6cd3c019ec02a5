/** SRTP state of both directions: roll-over counters, SRTCP indices and replay windows; pure */
import { BoundedMap } from '../../lib/bounded-map.ts';
import { RTP_HEADER_BYTES, uint16At, uint32At } from '../packet.ts';
import { createTransform, RTCP_CLEAR_BYTES, type SrtpKeys, type Transform } from './transform.ts';

/** Sequence numbers until they begin again. */
export const ROLL_OVER = 2 ** 16;
const HALF = ROLL_OVER / 2;

/** An index has 48 bits; a master key is good for no more packets. RFC 3711, 9.2. */
const RTP_INDEX_MAX = 2 ** 48 - 1;
const RTCP_INDEX_MAX = 2 ** 31 - 1;

/** Far-end streams of one key whose windows are kept: a far end has one, and a few more after transfers behind it. */
const STREAMS_MAX = 256;

/** Far-end streams whose highest index is kept. */
const INDICES_MAX = 1024;

/** Protects sent packets. One SSRC per instance. */
export class SrtpSender {
  readonly #transform: Transform;
  /** An index is never used for two packets, or both could be read. */
  readonly #used = new ReplayWindow();
  #rtcpIndex = 0;
  #isResumed = false;

  constructor(keys: SrtpKeys) {
    this.#transform = createTransform(keys);
  }

  /** Call it when the key is used again after a time without it: the stream went on meanwhile. */
  resume(): void {
    this.#isResumed = true;
  }

  /** Octets that protection adds to an RTP packet. */
  get tagBytes(): number {
    return this.#transform.rtpTagBytes;
  }

  /** @returns undefined for a sequence number that has been sent already, or lies far behind. */
  protectRtp(packet: Uint8Array): Buffer | undefined {
    const nearest = nearestIndex(this.#used.newest, uint16At(packet, 2));
    // More than half of all sequence numbers, sent without this key, make the nearest index an old one.
    const isOld = this.#isResumed && !this.#used.isNew(nearest);
    const index = isOld ? nearest + ROLL_OVER : nearest;
    this.#isResumed = false;
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

/** The highest index of each far-end stream, by SSRC and not by key: a stream may go on under another one. */
export class StreamIndices {
  /** The least recently heard first. */
  readonly #bySsrc = new BoundedMap<number, number>(INDICES_MAX);

  /** -1 for an unknown stream. */
  of(ssrc: number): number {
    return this.#bySsrc.get(ssrc) ?? -1;
  }

  /** Notes an index of an authenticated packet. Evicts the least recently heard stream when full. */
  note(ssrc: number, index: number): void {
    this.#bySsrc.set(ssrc, index);
  }
}

interface ReceivedStream {
  readonly rtp: ReplayWindow;
  readonly rtcp: ReplayWindow;
  /** Whether its key is used again after a time without it, and no packet has come since. */
  isResumed: boolean;
}

/** Unprotects received packets. A packet that fails authentication leaves no state. */
export class SrtpReceiver {
  readonly #transform: Transform;
  /** Streams by SSRC, the least recently heard first. */
  readonly #streams = new BoundedMap<number, ReceivedStream>(STREAMS_MAX);
  readonly #indices: StreamIndices;

  /** @param indices of the session: the receivers of all its keys share them. */
  constructor(keys: SrtpKeys, indices = new StreamIndices()) {
    this.#transform = createTransform(keys);
    this.#indices = indices;
  }

  /** Call it when the key is used again after a time without it: the streams went on meanwhile. */
  resume(): void {
    for (const stream of this.#streams.values()) stream.isResumed = true;
  }

  /** @returns the RTP packet; undefined when it is malformed, not authentic, or a replay. */
  unprotectRtp(packet: Uint8Array): Buffer | undefined {
    if (packet.length < RTP_HEADER_BYTES) return undefined;
    const ssrc = uint32At(packet, 8);
    const rtp = this.#streams.get(ssrc)?.rtp;
    for (const index of this.#possibleIndices(ssrc, uint16At(packet, 2))) {
      if (index > RTP_INDEX_MAX || rtp?.isNew(index) === false) continue;
      const plain = this.#transform.unprotectRtp(packet, index);
      if (plain === undefined) continue;
      this.#note(ssrc, index);
      return plain;
    }
    return undefined;
  }

  /** Usually one; several for the first packet of a stream under this key. */
  #possibleIndices(ssrc: number, sequence: number): readonly number[] {
    const stream = this.#streams.get(ssrc);
    const nearest = nearestIndex(this.#indices.of(ssrc), sequence);
    // The stream may have rolled over before its first packet arrived, or begin with a counter of 0 under a new key.
    if (stream === undefined || stream.rtp.newest < 0) {
      return [...new Set([sequence, sequence + ROLL_OVER, nearest])];
    }
    const next = nearestIndex(stream.rtp.newest, sequence);
    return stream.isResumed ? [...new Set([nearest, next, next + ROLL_OVER])] : [next];
  }

  #note(ssrc: number, index: number): void {
    const stream = this.#streamOf(ssrc);
    stream.rtp.add(index);
    stream.isResumed = false;
    this.#indices.note(ssrc, stream.rtp.newest);
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

  /** State of an SSRC's stream, made on first use; for authenticated packets alone. */
  #streamOf(ssrc: number): ReceivedStream {
    const stream = this.#streams.get(ssrc) ?? {
      ...{ rtp: new ReplayWindow(), rtcp: new ReplayWindow() },
      isResumed: false,
    };
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
export function nearestIndex(newest: number, sequence: number): number {
  if (newest < 0) return sequence;
  const rollOvers = newest - (newest % ROLL_OVER);
  const ahead = sequence - (newest % ROLL_OVER);
  if (ahead > HALF && rollOvers > 0) return rollOvers - ROLL_OVER + sequence;
  return ahead < -HALF ? rollOvers + ROLL_OVER + sequence : rollOvers + sequence;
}

/** RFC 3711, 3.3.2: at least 64. */
const REPLAY_WINDOW_PACKETS = 64;

/** The newest packets seen, by the extended index: 48 bits in SRTP, 31 bits in SRTCP. RFC 3711, 3.3.2. */
export class ReplayWindow {
  #newest = -1;
  /** The newest index seen in each place; an index has the place of its lowest bits. */
  readonly #seen = new Float64Array(REPLAY_WINDOW_PACKETS).fill(-1);

  /** The highest index so far; -1 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** Whether the index is new; one older than the window is not. */
  isNew(index: number): boolean {
    if (index <= this.#newest - REPLAY_WINDOW_PACKETS) return false;
    return this.#seen[index % REPLAY_WINDOW_PACKETS] !== index;
  }

  /** Marks an index as seen. */
  add(index: number): void {
    this.#seen[index % REPLAY_WINDOW_PACKETS] = index;
    if (index > this.#newest) this.#newest = index;
  }
}
