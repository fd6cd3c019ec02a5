/** Packetizer for Opus: encodes 20 ms frames of sound in packets of the length that the far end asks for, as far as Opus has it. */
import { CODECS } from '../../rtp/codecs.ts';
import { FRAME_MS, LINE_RATE_HZ } from '../audio-stream.ts';
import type { OpusEncoder } from '../codecs/opus.ts';
import type { CutPacket } from './packetizer.ts';

/** Lengths that Opus has and a far end may ask for; a shorter one is taken in place of others. */
const PACKET_MS = [60, 40, 20, 10];

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;
const TICKS_PER_SAMPLE = CODECS.opus.clockRateHz / LINE_RATE_HZ;

/** A packet that is not full, and the frame that fills it. */
const CAPACITY_SAMPLES = (60 + FRAME_MS) * SAMPLES_PER_MS;

/** Frames of one stream, in order and without gaps; call `flush` before a gap. */
export class OpusPacketizer {
  readonly #encoder: Pick<OpusEncoder, 'encode'>;
  readonly #packetSamples: number;
  readonly #waiting = new Int16Array(CAPACITY_SAMPLES);
  #length = 0;
  /** Of the first waiting sample. */
  #timestamp = 0;
  #hasMarker = false;

  constructor(encoder: Pick<OpusEncoder, 'encode'>, askedMs: number) {
    this.#encoder = encoder;
    const packetMs = PACKET_MS.find((ms) => ms <= askedMs) ?? FRAME_MS;
    this.#packetSamples = packetMs * SAMPLES_PER_MS;
  }

  /** Adds a frame. @returns the packets that it completes. */
  add(frame: Int16Array, timestamp: number, hasMarker: boolean): readonly CutPacket[] {
    if (this.#length === 0) this.#timestamp = timestamp;
    this.#waiting.set(frame, this.#length);
    this.#length += frame.length;
    this.#hasMarker ||= hasMarker;
    const packets: CutPacket[] = [];
    while (this.#length >= this.#packetSamples) packets.push(this.#cut(this.#packetSamples));
    return packets;
  }

  /** @returns what waits, whole frames, as a shorter packet; undefined without any. */
  flush(): CutPacket | undefined {
    return this.#length === 0 ? undefined : this.#cut(this.#length);
  }

  #cut(samples: number): CutPacket {
    const payload = this.#encoder.encode(this.#waiting.subarray(0, samples));
    const packet = { payload, timestamp: this.#timestamp, hasMarker: this.#hasMarker };
    this.#waiting.copyWithin(0, samples, this.#length);
    this.#length -= samples;
    this.#timestamp += samples * TICKS_PER_SAMPLE;
    this.#hasMarker = false;
    return packet;
  }
}
