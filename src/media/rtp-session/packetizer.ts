/** Packetizer: makes packets of the far end's length (a=ptime) from 20 ms frames, and splices packets of another stream into ours. */
import { CODECS } from '../../rtp/codecs.ts';
import { type RtpPacket, sequenceDistance } from '../../rtp/packet.ts';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';
import type { OpusEncoder } from '../codecs/opus.ts';

/** Longest packet. @see RFC 3551 section 4.2 */
const PACKET_MS_MAX = 200;

/** Lengths that Opus has and a far end may ask for; a shorter one is taken in place of others. */
const OPUS_PACKET_MS = [60, 40, 20, 10];

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** A packet of a reply before it has an RTP header. */
export interface CutPacket {
  readonly payload: Uint8Array;
  /** RTP timestamp of its first sample. */
  readonly timestamp: number;
  /** Whether a talkspurt begins in it. */
  readonly hasMarker: boolean;
}

/** A byte or a sample for each sample of 8 kHz. */
type Samples = Uint8Array | Int16Array;

interface PacketizerOptions<Frame extends Samples> {
  readonly packetSamples: number;
  /** Memory for a packet that is not full, and the frame that fills it. */
  readonly waiting: Frame;
  /** Ticks of the codec's RTP clock per sample. */
  readonly ticksPerSample: number;
  /** Encodes samples into a payload in new memory. */
  readonly encode: (samples: Frame) => Uint8Array;
}

/** Frames of one stream, in order and without gaps; call `flush` before a gap. */
export class Packetizer<Frame extends Samples> {
  readonly #options: PacketizerOptions<Frame>;
  #length = 0;
  /** RTP timestamp of the first waiting sample. */
  #timestamp = 0;
  #hasMarker = false;

  constructor(options: PacketizerOptions<Frame>) {
    this.#options = options;
  }

  /** Adds a frame. @returns the packets that it completes. */
  add(frame: Frame, timestamp: number, hasMarker: boolean): readonly CutPacket[] {
    const { packetSamples, waiting } = this.#options;
    if (this.#length === 0) this.#timestamp = timestamp;
    waiting.set(frame, this.#length);
    this.#length += frame.length;
    this.#hasMarker ||= hasMarker;
    const packets: CutPacket[] = [];
    while (this.#length >= packetSamples) packets.push(this.#cut(packetSamples));
    return packets;
  }

  /** @returns the waiting whole frames as a shorter packet; undefined without any. */
  flush(): CutPacket | undefined {
    return this.#length === 0 ? undefined : this.#cut(this.#length);
  }

  #cut(samples: number): CutPacket {
    const { encode, ticksPerSample, waiting } = this.#options;
    const payload = encode(waiting.subarray(0, samples) as Frame);
    const packet = { payload, timestamp: this.#timestamp, hasMarker: this.#hasMarker };
    waiting.copyWithin(0, samples, this.#length);
    this.#length -= samples;
    this.#timestamp += samples * ticksPerSample;
    this.#hasMarker = false;
    return packet;
  }
}

/**
 * Packets of frames that are encoded already: G.711 and G.722 have a byte for each sample of 8 kHz.
 *
 * @param packetMs up to 200.
 */
export function bytePacketizer(packetMs: number): Packetizer<Uint8Array> {
  return new Packetizer<Uint8Array>({
    packetSamples: packetMs * SAMPLES_PER_MS,
    waiting: new Uint8Array(PACKET_MS_MAX * SAMPLES_PER_MS + FRAME_SAMPLES),
    ticksPerSample: 1,
    encode: (bytes) => bytes.slice(),
  });
}

/** Encodes frames of sound in packets of the length that is asked for, or the next shorter one that Opus has. */
export function opusPacketizer(
  encoder: Pick<OpusEncoder, 'encode'>,
  askedMs: number,
): Packetizer<Int16Array> {
  return new Packetizer<Int16Array>({
    packetSamples: (OPUS_PACKET_MS.find((ms) => ms <= askedMs) ?? FRAME_MS) * SAMPLES_PER_MS,
    waiting: new Int16Array((Math.max(...OPUS_PACKET_MS) + FRAME_MS) * SAMPLES_PER_MS),
    ticksPerSample: CODECS.opus.clockRateHz / LINE_RATE_HZ,
    encode: (samples) => encoder.encode(samples),
  });
}

/** Sequence number and timestamp of our stream's next packet. */
export interface StreamPlace {
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples. */
  readonly timestamp: number;
}

/** A source that jumps further, either way, has restarted. */
const JUMP_PACKETS_MAX = 1_000;

/** Continues the numbering of one RTP stream across a change of its source. */
export class StreamSplice {
  #ssrc: number | undefined;
  #sequenceShift = 0;
  #timestampShift = 0;
  /** Sequence numbers behind ours that belong to the other stream, for its late packets. */
  #room = 0;

  /** Ends the splice; the other stream's next packet starts another one. */
  cut(): void {
    this.#ssrc = undefined;
  }

  /**
   * Numbers a packet of the other stream. Loss and order stay visible to the far end.
   *
   * @returns `isNew` for the first packet after a cut; undefined for one that came too late to have a place.
   */
  place(
    packet: RtpPacket,
    ours: StreamPlace,
  ): (StreamPlace & { readonly isNew: boolean }) | undefined {
    const isNew =
      packet.ssrc !== this.#ssrc ||
      Math.abs(sequenceDistance(ours.sequence, this.#sequenceOf(packet))) > JUMP_PACKETS_MAX;
    if (isNew) {
      this.#ssrc = packet.ssrc;
      this.#sequenceShift = ours.sequence - packet.sequence;
      this.#timestampShift = ours.timestamp - packet.timestamp;
      this.#room = 0;
    }
    const sequence = this.#sequenceOf(packet);
    const ahead = sequenceDistance(ours.sequence, sequence);
    if (ahead < -this.#room) return undefined;
    this.#room = Math.min(JUMP_PACKETS_MAX, this.#room + Math.max(0, ahead + 1));
    return { isNew, sequence, timestamp: (packet.timestamp + this.#timestampShift) >>> 0 };
  }

  #sequenceOf({ sequence }: RtpPacket): number {
    return (sequence + this.#sequenceShift) & 0xffff;
  }
}

/** A looped sound in place of silence, such as ringing. */
export class BackgroundLoop {
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #pcm: Int16Array | undefined;
  #at = 0;

  /** Plays a sound from its beginning; undefined, and less than a frame, is none. */
  set(pcm: Int16Array | undefined): void {
    this.#pcm = pcm !== undefined && pcm.length >= FRAME_SAMPLES ? pcm : undefined;
    this.#at = 0;
  }

  /** @returns the next 20 ms, in memory that is reused; undefined where no sound is set. */
  next(): Int16Array | undefined {
    const pcm = this.#pcm;
    if (pcm === undefined) return undefined;
    for (let index = 0; index < FRAME_SAMPLES; index += 1) {
      this.#frame[index] = pcm[(this.#at + index) % pcm.length] ?? 0;
    }
    this.#at = (this.#at + FRAME_SAMPLES) % pcm.length;
    return this.#frame;
  }
}
