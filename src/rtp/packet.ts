/** Reads and writes RTP packets; pure */

/** Length of a header without contributing sources and extension, as in all packets that we send. */
export const RTP_HEADER_BYTES = 12;

/**
 * One RTP packet.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                           timestamp                           |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                             SSRC                              |
 *     +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
 *     |          CC contributing sources, an extension when X         |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |          payload, padding when P (last byte: how much)        |
 *
 * @see RFC 3550 section 5.1
 */
export interface RtpPacket {
  readonly payloadType: number;
  readonly hasMarker: boolean;
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples. */
  readonly timestamp: number;
  readonly ssrc: number;
  /** A view into the datagram, not a copy. */
  readonly payload: Uint8Array;
}

const HAS_PADDING = 0x20;
const HAS_EXTENSION = 0x10;
const HAS_MARKER = 0x80;

const NOTHING = new Uint8Array(0);

/**
 * Reads a datagram.
 *
 * @returns undefined when it is not RTP: wrong version, lengths that do not fit, or RTCP.
 * @see RFC 3550 appendix A.1
 */
export function parseRtp(datagram: Uint8Array): RtpPacket | undefined {
  const packet = new PacketInHand();
  return packet.read(datagram) ? plainCopy(packet, packet.payload) : undefined;
}

/** @returns a copy of a packet that does not share the datagram's memory. */
export function keptCopy(packet: RtpPacket): RtpPacket {
  return plainCopy(packet, packet.payload.slice());
}

/** A packet object that is reused for every datagram. */
export class PacketInHand implements RtpPacket {
  payloadType = 0;
  hasMarker = false;
  sequence = 0;
  timestamp = 0;
  ssrc = 0;
  /** Memory of the payload, which begins at `payloadAt`. */
  datagram: Uint8Array = NOTHING;
  payloadAt = 0;
  payloadBytes = 0;

  get payload(): Uint8Array {
    return this.datagram.subarray(this.payloadAt, this.payloadAt + this.payloadBytes);
  }

  /** Reads a datagram as `parseRtp` does. @returns false, and changes nothing, when it is not RTP. */
  read(datagram: Uint8Array): boolean {
    const length = datagram.length;
    const first = byteAt(datagram, 0);
    if (length < RTP_HEADER_BYTES || first >> 6 !== 2 || isRtcp(datagram)) return false;
    let start = RTP_HEADER_BYTES + (first & 0x0f) * 4;
    if ((first & HAS_EXTENSION) !== 0) {
      if (start + 4 > length) return false;
      start += 4 + uint16At(datagram, start + 2) * 4;
    }
    const end = length - ((first & HAS_PADDING) !== 0 ? byteAt(datagram, length - 1) : 0);
    if (start > end || ((first & HAS_PADDING) !== 0 && end === length)) return false;
    const second = byteAt(datagram, 1);
    this.payloadType = second & 0x7f;
    this.hasMarker = (second & HAS_MARKER) !== 0;
    this.sequence = uint16At(datagram, 2);
    this.timestamp = uint32At(datagram, 4);
    this.ssrc = uint32At(datagram, 8);
    this.datagram = datagram;
    this.payloadAt = start;
    this.payloadBytes = end - start;
    return true;
  }
}

function plainCopy(packet: RtpPacket, payload: Uint8Array): RtpPacket {
  const { payloadType, hasMarker, sequence, timestamp, ssrc } = packet;
  return { payloadType, hasMarker, sequence, timestamp, ssrc, payload };
}

/** Distinguishes RTCP from RTP on one port. @see RFC 5761 section 4 */
export function isRtcp(datagram: Uint8Array): boolean {
  const type = byteAt(datagram, 1);
  return type >= 192 && type <= 223;
}

/** Writes the fixed header over the first 12 bytes of `target`. */
export function writeRtpHeader(target: Uint8Array, packet: Omit<RtpPacket, 'payload'>): void {
  const { sequence, timestamp, ssrc } = packet;
  target[0] = 0x80;
  target[1] = packet.payloadType | (packet.hasMarker ? HAS_MARKER : 0);
  target[2] = sequence >>> 8;
  target[3] = sequence;
  target[4] = timestamp >>> 24;
  target[5] = timestamp >>> 16;
  target[6] = timestamp >>> 8;
  target[7] = timestamp;
  target[8] = ssrc >>> 24;
  target[9] = ssrc >>> 16;
  target[10] = ssrc >>> 8;
  target[11] = ssrc;
}

/** Writes a whole packet. */
export function writeRtp(packet: RtpPacket): Uint8Array {
  const datagram = new Uint8Array(RTP_HEADER_BYTES + packet.payload.length);
  writeRtpHeader(datagram, packet);
  datagram.set(packet.payload, RTP_HEADER_BYTES);
  return datagram;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

/** Reads 16 bits, the highest first. */
export function uint16At(bytes: Uint8Array, index: number): number {
  return (byteAt(bytes, index) << 8) | byteAt(bytes, index + 1);
}

/** Reads 32 bits, the highest first. */
export function uint32At(bytes: Uint8Array, index: number): number {
  return ((uint16At(bytes, index) << 16) | uint16At(bytes, index + 2)) >>> 0;
}

/** Distance between two 16-bit sequence numbers, the shorter way round; negative when `to` is behind. */
export function sequenceDistance(from: number, to: number): number {
  return ((to - from) << 16) >> 16;
}
