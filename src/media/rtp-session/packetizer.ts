/** Packetizer: cuts encoded 20 ms frames into packets of the length that the far end asks for (a=ptime); pure */
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

/** Longest packet. @see RFC 3551 section 4.2 */
const PACKET_MS_MAX = 200;

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** G.711 and G.722 have a byte for each sample of 8 kHz. A packet that is not full, and the frame that fills it. */
const CAPACITY_BYTES = PACKET_MS_MAX * SAMPLES_PER_MS + FRAME_SAMPLES;

export interface CutPacket {
  readonly payload: Uint8Array;
  /** Of its first sample. */
  readonly timestamp: number;
  /** Whether a talkspurt begins in it. */
  readonly hasMarker: boolean;
}

/** Frames of one stream, in order and without gaps; call `flush` before a gap. */
export class Packetizer {
  readonly #packetBytes: number;
  readonly #waiting = new Uint8Array(CAPACITY_BYTES);
  #length = 0;
  /** Of the first waiting sample. */
  #timestamp = 0;
  #hasMarker = false;

  /** @param packetMs up to 200. */
  constructor(packetMs: number) {
    this.#packetBytes = packetMs * SAMPLES_PER_MS;
  }

  /** Adds a frame. @returns the packets that it completes, in memory of their own. */
  add(frame: Uint8Array, timestamp: number, hasMarker: boolean): readonly CutPacket[] {
    if (this.#length === 0) this.#timestamp = timestamp;
    this.#waiting.set(frame, this.#length);
    this.#length += frame.length;
    this.#hasMarker ||= hasMarker;
    const packets: CutPacket[] = [];
    while (this.#length >= this.#packetBytes) packets.push(this.#cut(this.#packetBytes));
    return packets;
  }

  /** @returns what waits, as a shorter packet; undefined without any. */
  flush(): CutPacket | undefined {
    return this.#length === 0 ? undefined : this.#cut(this.#length);
  }

  #cut(bytes: number): CutPacket {
    const payload = this.#waiting.slice(0, bytes);
    const packet = { payload, timestamp: this.#timestamp, hasMarker: this.#hasMarker };
    this.#waiting.copyWithin(0, bytes, this.#length);
    this.#length -= bytes;
    this.#timestamp += bytes;
    this.#hasMarker = false;
    return packet;
  }
}
